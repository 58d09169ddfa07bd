package main

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"time"
	"unsafe"

	cadvisor "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	resources "k8s.io/kubelet/pkg/apis/podresources/v1"
	"k8s.io/kubernetes/pkg/kubelet/apis/podresources"
	_ "k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/nodestatus"
)

// containerDevices is upstream's way from devices to entries of the pod-resources API.
//
//go:linkname containerDevices k8s.io/kubernetes/pkg/kubelet/cm.containerDevicesFromResourceDeviceInstances
func containerDevices(devicemanager.ResourceDeviceInstances) []*resources.ContainerDevices

// tick updates the status of the node as the kubelet does, and returns it.
func (o *oracle) tick() answer {
	machine := func() (*cadvisor.MachineInfo, error) { return &cadvisor.MachineInfo{NumCores: 64}, nil }
	nothing := func() v1.ResourceList { return nil }
	initial := func(bool) v1.ResourceList { return nil }
	events := func(string, string, string) {}
	set := nodestatus.MachineInfo("node", 1000, 0, machine, initial, o.manager.GetCapacity, nothing, events, false)
	if err := set(klog.NewContext(context.Background(), klog.Background()), o.node); err != nil {
		panic(err)
	}
	return answer{"capacity": extended(o.node.Status.Capacity), "allocatable": extended(o.node.Status.Allocatable)}
}

// advance lets endpoints have been stopped longer ago: the one thing that the manager times.
func (o *oracle) advance(seconds int) {
	endpoints := reflect.ValueOf(o.manager).Elem().FieldByName("endpoints")
	for _, name := range endpoints.MapKeys() {
		stopped := endpoints.MapIndex(name).FieldByName("e").Elem().Elem().FieldByName("stopTime")
		at := (*time.Time)(unsafe.Pointer(stopped.UnsafeAddr()))
		if !at.IsZero() {
			*at = at.Add(-time.Duration(seconds) * time.Second)
		}
	}
}

// state returns which devices are allocated, and what each container of the pods holds.
func (o *oracle) state(pods []podSpec) answer {
	allocated := map[string][]string{}
	field := reflect.ValueOf(o.manager).Elem().FieldByName("allocatedDevices")
	for _, name := range field.MapKeys() {
		allocated[name.String()] = []string{}
		for _, id := range field.MapIndex(name).MapKeys() {
			allocated[name.String()] = append(allocated[name.String()], id.String())
		}
	}
	held := map[string]map[string]map[string][]string{}
	for _, spec := range pods {
		pod := spec.pod()
		held[string(pod.UID)] = map[string]map[string][]string{}
		for _, each := range append(append([]v1.Container(nil), pod.Spec.InitContainers...), pod.Spec.Containers...) {
			of := map[string][]string{}
			for name, devices := range o.manager.GetDevices(string(pod.UID), each.Name) {
				for id := range devices {
					of[name] = append(of[name], id)
				}
			}
			held[string(pod.UID)][each.Name] = of
		}
	}
	return answer{"allocated": allocated, "held": held}
}

// options returns what a container starts with, or why it does not.
func (o *oracle) options(pod *v1.Pod, name string) answer {
	for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for at := range containers {
			if containers[at].Name != name {
				continue
			}
			given, err := o.manager.GetDeviceRunContainerOptions(context.Background(), pod, &containers[at])
			if err != nil {
				return answer{"error": err.Error()}
			}
			if given == nil {
				given = &devicemanager.DeviceRunContainerOptions{}
			}
			return answer{"options": given}
		}
	}
	panic("no container " + name)
}

// health returns the health of devices in the status of a pod.
func (o *oracle) health(pod *v1.Pod) answer {
	status := &v1.PodStatus{}
	for _, each := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, v1.ContainerStatus{Name: each.Name})
	}
	o.manager.UpdateAllocatedResourcesStatus(pod, status)
	health := map[string]map[string]map[string]string{}
	for _, container := range status.ContainerStatuses {
		health[container.Name] = map[string]map[string]string{}
		for _, each := range container.AllocatedResourcesStatus {
			of := map[string]string{}
			for _, device := range each.Resources {
				of[string(device.ResourceID)] = string(device.Health)
			}
			health[container.Name][string(each.Name)] = of
		}
	}
	return answer{"health": health}
}

// resources returns the answers of the pod-resources API.
func (o *oracle) resources() answer {
	ctx := klog.NewContext(context.Background(), klog.Background())
	provided := podresources.PodResourcesProviders{
		Pods: provider{o}, Devices: provider{o}, Cpus: provider{o}, Memory: provider{o}, DynamicResources: provider{o},
	}
	server := podresources.NewV1PodResourcesServer(ctx, provided)
	list, err := server.List(ctx, &resources.ListPodResourcesRequest{})
	if err != nil {
		panic(err)
	}
	allocatable, err := server.GetAllocatableResources(ctx, &resources.AllocatableResourcesRequest{})
	if err != nil {
		panic(err)
	}
	pods := map[string]map[string][]entry{}
	for _, pod := range list.PodResources {
		pods[pod.Name] = map[string][]entry{}
		for _, container := range pod.Containers {
			pods[pod.Name][container.Name] = entries(container.Devices)
		}
	}
	return answer{"pods": pods, "allocatable": entries(allocatable.Devices)}
}

type entry struct {
	Resource string
	IDs      []string
	Numa     []int64
}

func entries(devices []*resources.ContainerDevices) []entry {
	found := []entry{}
	for _, each := range devices {
		one := entry{each.ResourceName, each.DeviceIds, []int64{}}
		for _, node := range each.GetTopology().GetNodes() {
			one.Numa = append(one.Numa, node.ID)
		}
		found = append(found, one)
	}
	return found
}

// provider is where the pod-resources API gets its answers from.
type provider struct{ *oracle }

func (p provider) GetActivePods() []*v1.Pod { return p.pods() }
func (p provider) GetPods() []*v1.Pod       { return p.pods() }
func (p provider) GetPodByName(string, string) (*v1.Pod, bool) {
	return nil, false
}
func (p provider) UpdateAllocatedDevices() { p.manager.UpdateAllocatedDevices() }
func (p provider) GetDevices(pod, container string) []*resources.ContainerDevices {
	return containerDevices(p.manager.GetDevices(pod, container))
}
func (p provider) GetAllocatableDevices() []*resources.ContainerDevices {
	return containerDevices(p.manager.GetAllocatableDevices())
}
func (p provider) GetCPUs(string, string) []int64                        { return nil }
func (p provider) GetAllocatableCPUs() []int64                           { return nil }
func (p provider) GetMemory(string, string) []*resources.ContainerMemory { return nil }
func (p provider) GetAllocatableMemory() []*resources.ContainerMemory    { return nil }
func (p provider) GetDynamicResources(*v1.Pod, *v1.Container) []*resources.DynamicResource {
	return nil
}

// streams returns how many plugins are watched, or are about not to be any more.
func streams() int {
	stacks := make([]byte, 1<<22)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), ".(*server).runClient(")
}
