// Command kubelet-oracle runs Kubernetes' own device manager, topology manager, resource
// predicates and node status setter as one program: a command per line of JSON on standard input,
// and an answer per line on standard output. Each command has a goroutine of its own, so that one
// may ask while an admission waits for a plugin.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	_ "unsafe"

	"github.com/go-logr/logr/funcr"
	cadvisor "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
)

// newManagerImpl is upstream's, since the exported function has the path of the socket built in.
//
//go:linkname newManagerImpl k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.newManagerImpl
func newManagerImpl(klog.Logger, string, []cadvisor.Node, topologymanager.Store) (*devicemanager.ManagerImpl, error)

// command is one line of input; which fields count depends on Op.
type command struct {
	ID        int
	Op        string
	Socket    string
	Policy    string
	Numa      []int
	Records   []record
	Status    status
	Pods      []podSpec
	Pod       podSpec
	Container string
	Resource  string
	Seconds   int
	KnowsPods bool
}

// record is what the runtime had of a container when the kubelet started.
type record struct {
	Pod, Container string
	Running        bool
}

type answer map[string]any

// oracle is the kubelet of one run of this program.
type oracle struct {
	manager  *devicemanager.ManagerImpl
	topology topologymanager.Manager
	handlers []lifecycle.PodAdmitHandler
	node     *v1.Node

	lock      sync.Mutex
	active    []*v1.Pod
	knowsPods bool
	lists     map[string]int
}

// AddSource and AllReady make it the judge of whether all pods are known.
func (o *oracle) AddSource(string) {}

func (o *oracle) AllReady() bool {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.knowsPods
}

func (o *oracle) pods() []*v1.Pod {
	o.lock.Lock()
	defer o.lock.Unlock()
	return append([]*v1.Pod(nil), o.active...)
}

func main() {
	o := &oracle{lists: map[string]int{}}
	klog.SetLoggerWithOptions(funcr.NewJSON(o.hear, funcr.Options{Verbosity: 2}), klog.ContextualLogger(true))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	var writing sync.Mutex
	output := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		go func() {
			said := o.obey(c)
			said["id"] = c.ID
			writing.Lock()
			defer writing.Unlock()
			if err := output.Encode(said); err != nil {
				panic(err)
			}
		}()
	}
}

// hear counts the lists of devices that are dealt with, which the manager only logs.
func (o *oracle) hear(line string) {
	var said struct{ Msg, ResourceName string }
	if json.Unmarshal([]byte(line), &said) == nil && strings.HasPrefix(said.Msg, "Processed device updates") {
		o.lock.Lock()
		defer o.lock.Unlock()
		o.lists[said.ResourceName]++
	}
}

func (o *oracle) obey(c command) answer {
	switch c.Op {
	case "start":
		return o.start(c)
	case "pods":
		o.lock.Lock()
		defer o.lock.Unlock()
		o.active, o.knowsPods = nil, c.KnowsPods
		for _, each := range c.Pods {
			o.active = append(o.active, each.pod())
		}
		return answer{}
	case "admit":
		return o.admit(c.Pod.pod())
	case "tick":
		return o.tick()
	case "advance":
		o.advance(c.Seconds)
		return answer{}
	case "state":
		return o.state(c.Pods)
	case "options":
		return o.options(c.Pod.pod(), c.Container)
	case "health":
		return o.health(c.Pod.pod())
	case "resources":
		return o.resources()
	case "lists":
		o.lock.Lock()
		defer o.lock.Unlock()
		return answer{"lists": o.lists[c.Resource]}
	case "streams":
		return answer{"streams": streams()}
	}
	panic("unknown command " + c.Op)
}

func (o *oracle) start(c command) answer {
	var machine []cadvisor.Node
	for _, each := range c.Numa {
		machine = append(machine, cadvisor.Node{Id: each})
	}
	var err error
	if o.topology, err = topologymanager.NewManager(machine, c.Policy, "container", nil); err != nil {
		panic(err)
	}
	if o.manager, err = newManagerImpl(klog.Background(), c.Socket, machine, o.topology); err != nil {
		panic(err)
	}
	o.topology.AddHintProvider(klog.Background(), o.manager)
	o.node = c.Status.node()
	predicates := lifecycle.NewPredicateAdmitHandler(o.getNode, nobody{}, o.manager.UpdatePluginResources)
	o.handlers = []lifecycle.PodAdmitHandler{o.topology, predicates}
	containers, running := containermap.NewContainerMap(), sets.New[string]()
	for at, each := range c.Records {
		id := strconv.Itoa(at)
		containers.Add(each.Pod, each.Container, id)
		if each.Running {
			running.Insert(id)
		}
	}
	if err := o.manager.Start(klog.Background(), o.pods, o, containers, running); err != nil {
		panic(err)
	}
	return answer{}
}

func (o *oracle) getNode(context.Context, bool) (*v1.Node, error) { return o.node, nil }

// admit asks the handlers in the kubelet's order; the pod is among the active ones already.
func (o *oracle) admit(pod *v1.Pod) answer {
	attributes := &lifecycle.PodAdmitAttributes{Pod: pod}
	for _, each := range o.pods() {
		if each.UID != pod.UID {
			attributes.OtherPods = append(attributes.OtherPods, each)
		}
	}
	for _, handler := range o.handlers {
		if said := handler.Admit(attributes); !said.Admit {
			return answer{"reason": said.Reason, "message": said.Message}
		}
	}
	return answer{}
}

// nobody can make room for a pod that does not fit.
type nobody struct{}

func (nobody) HandleAdmissionFailure(_ context.Context, _ *v1.Pod, reasons []lifecycle.PredicateFailureReason) ([]lifecycle.PredicateFailureReason, error) {
	return reasons, nil
}
