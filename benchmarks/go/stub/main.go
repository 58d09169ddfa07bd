// Command stub serves as many devices as it is told to with upstream's own library for device
// plugins, the one that its sample uses. A line on standard input flaps the first device.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"

	"k8s.io/klog/v2"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	library "k8s.io/kubernetes/pkg/kubelet/cm/devicemanager/plugin/v1beta1"
)

const resource = "bench.example.com/stub"

func main() {
	count, err := strconv.Atoi(os.Args[1])
	exitOn(err)
	devices := make([]*api.Device, count)
	for at := range devices {
		// As long as an ID of ours.
		id := fmt.Sprintf("stub-00000000-0000-0000-0000-%012d", at)
		devices[at] = &api.Device{ID: id, Health: api.Healthy}
	}
	ctx := context.Background()
	socket := api.DevicePluginPath + "stub.sock"
	plugin := library.NewDevicePluginStub(klog.FromContext(ctx), devices, socket, resource, false, false)
	plugin.SetAllocFunc(allocate)
	exitOn(plugin.Start(ctx))
	exitOn(plugin.Register(ctx, api.KubeletSocket, resource, api.DevicePluginPath))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		devices = flapped(devices)
		plugin.Update(devices)
	}
}

// flapped returns another list: the one before may still be on its way.
func flapped(devices []*api.Device) []*api.Device {
	list := append([]*api.Device(nil), devices...)
	health := api.Unhealthy
	if list[0].Health == api.Unhealthy {
		health = api.Healthy
	}
	list[0] = &api.Device{ID: list[0].ID, Health: health}
	return list
}

// allocate answers with a file per device, as many as our plugin does.
func allocate(request *api.AllocateRequest, known map[string]*api.Device) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		response := &api.ContainerAllocateResponse{}
		for _, id := range container.DevicesIds {
			if known[id] == nil {
				return nil, fmt.Errorf("there is no device %s", id)
			}
			file := &api.DeviceSpec{HostPath: "/dev/null", ContainerPath: "/dev/" + id, Permissions: "rw"}
			response.Devices = append(response.Devices, file)
		}
		answer.ContainerResponses = append(answer.ContainerResponses, response)
	}
	return answer, nil
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
