package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// What marks a route as ours, so that a route of a node that has gone is found again.
const ourProtocol = 0x67

// Routes are put right at least this often, whatever the API server says or does not say.
const resync = 30 * time.Second

// keepRoutes lets pods reach the pods of other nodes: one route per range of addresses of each
// other node, through that node. It returns only with an error.
//
// Environment: NODE_NAME is the node it runs on, POD_SUBNET all pod addresses of the cluster
// (comma-separated), CONTROL_PLANE_ENDPOINT an API server that is reachable without kube-proxy.
func keepRoutes(ctx context.Context) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	if endpoint := os.Getenv("CONTROL_PLANE_ENDPOINT"); endpoint != "" {
		config.Host = "https://" + endpoint
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, subnet := range strings.Split(os.Getenv("POD_SUBNET"), ",") {
		if err := masquerade(subnet); err != nil {
			return err
		}
	}
	changed := make(chan struct{}, 1)
	factory := informers.NewSharedInformerFactory(client, resync)
	nodes := factory.Core().V1().Nodes()
	if _, err := nodes.Informer().AddEventHandler(nudge(changed)); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for range changed {
		all, err := nodes.Lister().List(labels.Everything())
		if err == nil {
			err = setRoutes(wantedRoutes(all, os.Getenv("NODE_NAME")))
		}
		if err != nil {
			klog.ErrorS(err, "routes are not as they should be; trying again", "within", resync)
		}
	}
	return errors.New("the watch on nodes has ended")
}

func nudge(changed chan<- struct{}) cache.ResourceEventHandler {
	tell := func() {
		select {
		case changed <- struct{}{}:
		default: // One nudge that waits is enough: the routes are computed from all nodes.
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { tell() },
		UpdateFunc: func(any, any) { tell() },
		DeleteFunc: func(any) { tell() },
	}
}

// masquerade hides pod addresses behind the node's for what leaves the cluster's pods, as nothing
// outside the nodes knows a way back to a pod.
func masquerade(subnet string) error {
	address, _, err := net.ParseCIDR(strings.TrimSpace(subnet))
	if err != nil {
		return fmt.Errorf("POD_SUBNET: %w", err)
	}
	program := "iptables"
	if address.To4() == nil {
		program = "ip6tables"
	}
	rule := []string{"POSTROUTING", "-s", subnet, "!", "-d", subnet, "-j", "MASQUERADE"}
	run := func(verb string) error {
		return exec.Command(program, append([]string{"-w", "-t", "nat", verb}, rule...)...).Run()
	}
	if run("-C") == nil {
		return nil
	}
	if err := run("-A"); err != nil {
		return fmt.Errorf("%s -A %s: %w", program, strings.Join(rule, " "), err)
	}
	return nil
}

// wantedRoutes maps each range of pod addresses of the other nodes to the node's own address of
// the same family.
func wantedRoutes(nodes []*corev1.Node, here string) map[string]net.IP {
	wanted := map[string]net.IP{}
	for _, node := range nodes {
		if node.Name == here {
			continue
		}
		for _, podCIDR := range node.Spec.PodCIDRs {
			first, _, err := net.ParseCIDR(podCIDR)
			if err != nil {
				continue
			}
			for _, address := range node.Status.Addresses {
				ip := net.ParseIP(address.Address)
				sameFamily := ip != nil && (ip.To4() == nil) == (first.To4() == nil)
				if address.Type == corev1.NodeInternalIP && sameFamily {
					wanted[podCIDR] = ip
				}
			}
		}
	}
	return wanted
}

// setRoutes makes the kernel's routes that are ours exactly the wanted ones.
func setRoutes(wanted map[string]net.IP) error {
	ours := &netlink.Route{Protocol: ourProtocol}
	present, err := netlink.RouteListFiltered(netlink.FAMILY_ALL, ours, netlink.RT_FILTER_PROTOCOL)
	if err != nil {
		return fmt.Errorf("list routes: %w", err)
	}
	var failed []error
	for _, route := range present {
		if route.Dst == nil || wanted[route.Dst.String()] == nil {
			failed = append(failed, netlink.RouteDel(&route))
		}
	}
	for podCIDR, gateway := range wanted {
		_, destination, err := net.ParseCIDR(podCIDR)
		if err == nil {
			route := &netlink.Route{Dst: destination, Gw: gateway, Protocol: ourProtocol}
			err = netlink.RouteReplace(route)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("route %s via %s: %w", podCIDR, gateway, err))
		}
	}
	return errors.Join(failed...)
}
