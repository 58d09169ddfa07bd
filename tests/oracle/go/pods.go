package main

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

type containerSpec struct {
	Name   string
	Kind   string
	Limits map[string]int64
}

type podSpec struct {
	UID        string
	Name       string
	Containers []containerSpec
}

func (p podSpec) pod() *v1.Pod {
	pod := &v1.Pod{ObjectMeta: meta.ObjectMeta{UID: types.UID(p.UID), Name: p.Name, Namespace: "default"}}
	always := v1.ContainerRestartPolicyAlways
	for _, each := range p.Containers {
		limits := v1.ResourceList{}
		for name, count := range each.Limits {
			limits[v1.ResourceName(name)] = *resource.NewQuantity(count, resource.DecimalSI)
		}
		container := v1.Container{Name: each.Name, Resources: v1.ResourceRequirements{Limits: limits, Requests: limits}}
		switch each.Kind {
		case "sidecar":
			container.RestartPolicy = &always
			fallthrough
		case "init":
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
		default:
			pod.Spec.Containers = append(pod.Spec.Containers, container)
		}
	}
	return pod
}

// status is what the node said of extended resources, as its JSON has it.
type status struct {
	Capacity, Allocatable map[string]string
}

func (s status) node() *v1.Node {
	node := &v1.Node{ObjectMeta: meta.ObjectMeta{Name: "node"}}
	node.Status.Capacity = quantities(s.Capacity)
	node.Status.Allocatable = quantities(s.Allocatable)
	return node
}

func quantities(texts map[string]string) v1.ResourceList {
	list := v1.ResourceList{}
	for name, text := range texts {
		list[v1.ResourceName(name)] = resource.MustParse(text)
	}
	return list
}

// extended returns the extended resources of a list.
func extended(list v1.ResourceList) map[string]string {
	texts := map[string]string{}
	for name, quantity := range list {
		if name == v1.ResourceCPU || name == v1.ResourceMemory || name == v1.ResourcePods {
			continue
		}
		texts[string(name)] = quantity.String()
	}
	return texts
}
