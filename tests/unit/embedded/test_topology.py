"""What the policies of the topology manager make of where devices lie.

Source: devicemanager/topology_hints.go.
"""

import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    ContainerPreferredAllocationRequest,
    PreferredAllocationRequest,
)
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.ledger import KubeletCrash
from lab.embedded.kubelet.node import Settings
from lab.embedded.kubelet.numa import Mask
from lab.embedded.kubelet.pod import Container
from lab.embedded.kubelet.rejection import topology_affinity
from lab.embedded.kubelet.topology import Hint, Policy, merge
from lab.embedded.profile import PROFILES
from tests.unit.embedded.conftest import StartKubelet, StartPlugin, send
from tests.unit.embedded.plugin import RESOURCE, Script, ScriptedPlugin, healthy
from tests.unit.embedded.pods import devices_of, init, pod_of, pod_with, refused
from tests.unit.embedded.test_allocation import PREFERS

STRICT = (Policy.RESTRICTED, Policy.SINGLE_NUMA_NODE)


def on(*nodes: int) -> Mask:
    """Return a mask."""
    return Mask.of(nodes)


class TestMerge:
    """The choice among the hints of several resources."""

    NARROW = Hint(on(0), preferred=True)
    OTHER = Hint(on(1), preferred=True)
    WIDE = Hint(on(0, 1), preferred=False)

    @pytest.mark.parametrize("policy", [Policy.BEST_EFFORT, *STRICT])
    def test_no_resource_is_no_preference(self, policy: Policy) -> None:
        """A pod without devices is always admitted."""
        hint, admitted = merge(policy, [0, 1], {})
        assert admitted
        assert hint.mask == (None if policy is Policy.SINGLE_NUMA_NODE else on(0, 1))

    @pytest.mark.parametrize(
        ("hints_", "mask"),
        [
            ({"a": [NARROW, OTHER, WIDE]}, on(0)),
            ({"a": [OTHER, WIDE]}, on(1)),
            ({"a": [NARROW, OTHER], "b": [OTHER]}, on(1)),
            ({"a": [NARROW], "b": None}, on(0)),
        ],
    )
    def test_all_policies_take_the_narrowest_that_is_preferred(
        self, hints_: dict[str, list[Hint] | None], mask: Mask
    ) -> None:
        """Of two as narrow, that with the lower numbers."""
        for policy in (Policy.BEST_EFFORT, *STRICT):
            assert merge(policy, [0, 1], hints_) == (Hint(mask, preferred=True), True)

    @pytest.mark.parametrize(
        "hints_",
        [
            {"a": []},
            {"a": [WIDE]},
            {"a": [NARROW], "b": [OTHER]},
            {"a": [NARROW], "b": []},
            {"a": [NARROW], "b": [Hint(on(0, 1), preferred=True)]},
        ],
    )
    def test_only_best_effort_takes_what_is_not_preferred(
        self, hints_: dict[str, list[Hint] | None]
    ) -> None:
        """No room, too wide, on different nodes, or of different widths."""
        assert merge(Policy.BEST_EFFORT, [0, 1], hints_)[1]
        for policy in STRICT:
            assert not merge(policy, [0, 1], hints_)[1]

    def test_a_preferred_hint_over_two_nodes_is_not_single(self) -> None:
        """The one difference between the strict policies."""
        wide = {"a": [Hint(on(0, 1), preferred=True)]}
        assert merge(Policy.RESTRICTED, [0, 1], wide)[1]
        assert not merge(Policy.SINGLE_NUMA_NODE, [0, 1], wide)[1]

    @pytest.mark.parametrize(
        ("first", "second", "mask"),
        [
            ([on(0, 1)], [on(0), on(0, 1)], on(0, 1)),
            ([on(0, 1), on(0, 1, 2)], [on(2), on(0, 1, 2)], on(0, 1)),
            ([on(0)], [on(0, 1, 2)], on(0)),
            ([on(0, 1, 2)], [on(0, 1, 2)], on(0, 1, 2)),
        ],
    )
    def test_of_what_is_not_preferred_the_size_that_the_neediest_needs_is_best(
        self, first: list[Mask], second: list[Mask], mask: Mask
    ) -> None:
        """So a resource that needs two nodes is not squeezed onto one by another."""
        hints_ = {
            "a": [Hint(each, preferred=False) for each in first],
            "b": [Hint(each, preferred=False) for each in second],
        }
        assert merge(Policy.BEST_EFFORT, [0, 1, 2], hints_)[0] == Hint(mask, preferred=False)


@pytest.fixture
def two_nodes(start_plugin: StartPlugin, start_kubelet: StartKubelet) -> "TwoNodes":
    """Return what starts a kubelet with two devices on each of two NUMA nodes."""
    return TwoNodes(start_kubelet, start_plugin)


class TwoNodes:
    """A machine whose kubelet has a policy."""

    def __init__(self, start_kubelet: StartKubelet, start_plugin: StartPlugin) -> None:
        self._start_kubelet = start_kubelet
        self._start_plugin = start_plugin

    def start(
        self, policy: Policy, script: Script | None = None, version: str = "1.36"
    ) -> tuple[DeviceManager, ScriptedPlugin]:
        """Return the kubelet and the plugin of a0, b0, a1 and b1."""
        settings = Settings(PROFILES[version], policy, numa_nodes=(0, 1))
        kubelet = self._start_kubelet(settings)
        plugin = self._start_plugin()
        plugin.script = script or plugin.script
        plugin.register()
        send(kubelet, plugin, healthy("a0", "b0", numa=0), healthy("a1", "b1", numa=1))
        return kubelet, plugin


@pytest.mark.parametrize("version", PROFILES)
@pytest.mark.parametrize("policy", [Policy.BEST_EFFORT, *STRICT])
def test_two_devices_come_from_one_node(two_nodes: TwoNodes, policy: Policy, version: str) -> None:
    """With one of node 0 in use, both come from node 1 (#136431)."""
    kubelet, _ = two_nodes.start(policy, version=version)
    kubelet.admit(pod_of("first", 1))
    assert kubelet.admit(pod_of("u", 2)) is None
    assert devices_of(kubelet, "first") < {"a0", "b0"}
    assert devices_of(kubelet, "u") == {"a1", "b1"}


def test_without_a_policy_devices_come_from_anywhere(two_nodes: TwoNodes) -> None:
    """Topology in the list alone does nothing."""
    kubelet, _ = two_nodes.start(Policy.NONE)
    for number in range(2):
        kubelet.admit(pod_of(str(number), 2))
    given = [{device[1] for device in devices_of(kubelet, str(n))} for n in range(2)]
    assert given == [{"0", "1"}, {"0", "1"}]


@pytest.mark.parametrize(
    ("policy", "admitted"),
    [
        (Policy.NONE, True),
        (Policy.BEST_EFFORT, True),
        (Policy.RESTRICTED, True),
        (Policy.SINGLE_NUMA_NODE, False),
    ],
)
def test_three_devices_do_not_fit_on_one_node(
    two_nodes: TwoNodes, policy: Policy, *, admitted: bool
) -> None:
    """Restricted is content with what needs two nodes anyway."""
    kubelet, _ = two_nodes.start(policy)
    assert kubelet.admit(pod_of("u", 3)) == (None if admitted else topology_affinity())


@pytest.mark.parametrize(
    ("policy", "admitted"),
    [(Policy.BEST_EFFORT, True), (Policy.RESTRICTED, False), (Policy.SINGLE_NUMA_NODE, False)],
)
def test_two_devices_left_on_two_nodes_are_not_aligned(
    two_nodes: TwoNodes, policy: Policy, *, admitted: bool
) -> None:
    """Best effort takes them all the same."""
    kubelet, plugin = two_nodes.start(policy)
    send(kubelet, plugin, healthy("a0", numa=0), healthy("a1", numa=1), [])
    # On an empty node two would fit together, and it is not the node's fault that they do not.
    sick = [*healthy("b0", numa=0), *healthy("b1", numa=1)]
    for device in sick:
        device.health = "Unhealthy"
    send(kubelet, plugin, healthy("a0", numa=0), healthy("a1", numa=1), sick)
    assert kubelet.admit(pod_of("u", 2)) == (None if admitted else topology_affinity())


def test_a_shortage_is_told_by_whoever_comes_to_it(two_nodes: TwoNodes) -> None:
    """Strict policies refuse for lack of a place, best effort for lack of devices."""
    kubelet, _ = two_nodes.start(Policy.BEST_EFFORT)
    assert refused(kubelet, pod_of("u", 5)).endswith("Requested: 5, Available: 4")
    kubelet.stop()


@pytest.mark.parametrize("policy", STRICT)
def test_a_shortage_is_no_place_to_strict_policies(two_nodes: TwoNodes, policy: Policy) -> None:
    """Whatever the reason."""
    kubelet, _ = two_nodes.start(policy)
    assert kubelet.admit(pod_of("u", 5)) == topology_affinity()


def test_a_plugin_without_topology_has_no_preference(
    start_kubelet: StartKubelet, start_plugin: StartPlugin
) -> None:
    """Then even the strictest policy admits."""
    kubelet = start_kubelet(Settings(policy=Policy.SINGLE_NUMA_NODE, numa_nodes=(0, 1)))
    plugin = start_plugin()
    plugin.register()
    send(kubelet, plugin, healthy("a", "b", "c"))
    assert kubelet.admit(pod_of("u", 3)) is None


def test_containers_are_placed_apart(two_nodes: TwoNodes) -> None:
    """The scope is the container: two of them may lie on two nodes."""
    kubelet, _ = two_nodes.start(Policy.SINGLE_NUMA_NODE)
    one, two = Container("one", {RESOURCE: 2}), Container("two", {RESOURCE: 2})
    assert kubelet.admit(pod_with("u", one, two)) is None
    assert devices_of(kubelet, "u", "one") == {"a0", "b0"}
    assert devices_of(kubelet, "u", "two") == {"a1", "b1"}


def test_an_app_container_stays_on_the_node_of_its_init_container(two_nodes: TwoNodes) -> None:
    """It takes over its device, and the second from beside it."""
    kubelet, _ = two_nodes.start(Policy.SINGLE_NUMA_NODE)
    kubelet.admit(pod_of("first", 1))
    pod = pod_with("u", init("init", 2), Container("app", {RESOURCE: 1}))
    assert kubelet.admit(pod) is None
    assert devices_of(kubelet, "u", "app") < devices_of(kubelet, "u", "init") == {"a1", "b1"}


@pytest.mark.parametrize("policy", [Policy.BEST_EFFORT, *STRICT])
def test_devices_of_pods_that_are_over_are_free_to_be_placed(
    two_nodes: TwoNodes, policy: Policy
) -> None:
    """To ask for hints is one of the moments at which the kubelet looks."""
    kubelet, _ = two_nodes.start(policy)
    kubelet.admit(pod_of("u", 2))
    kubelet.admit(pod_of("v", 2))
    kubelet.remove("v")
    assert kubelet.admit(pod_of("w", 2)) is None


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_another_request_of_the_same_container_has_no_place(
    two_nodes: TwoNodes, first: int, second: int
) -> None:
    """The topology manager is asked first, and has nothing to offer."""
    kubelet, _ = two_nodes.start(Policy.RESTRICTED)
    kubelet.admit(pod_of("u", first))
    assert kubelet.admit(pod_of("u", second)) == topology_affinity()


def preferences(kubelet: DeviceManager) -> list[ContainerPreferredAllocationRequest]:
    """Return what the plugin was asked to choose from."""
    requests = [call.request for call in kubelet.journal.calls("GetPreferredAllocation")]
    return [
        each.container_requests[0]
        for each in requests
        if isinstance(each, PreferredAllocationRequest)
    ]


def test_the_plugin_is_asked_among_aligned_devices(two_nodes: TwoNodes) -> None:
    """Where there are more than needed; its wish for others is not granted."""
    script = Script(options=PREFERS, prefer=lambda _: ["b1"])
    kubelet, _ = two_nodes.start(Policy.BEST_EFFORT, script)
    assert kubelet.admit(pod_of("u", 1)) is None
    (request,) = preferences(kubelet)
    assert sorted(request.available_deviceIDs) == ["a0", "b0"]
    assert devices_of(kubelet, "u") < {"a0", "b0"}


def test_the_plugin_is_not_asked_where_all_that_is_aligned_is_needed(two_nodes: TwoNodes) -> None:
    """There is nothing to choose then; without a policy it would be asked even so."""
    kubelet, _ = two_nodes.start(Policy.BEST_EFFORT, Script(options=PREFERS))
    assert kubelet.admit(pod_of("u", 2)) is None
    assert devices_of(kubelet, "u") == {"a0", "b0"}
    assert preferences(kubelet) == []


def test_what_is_aligned_must_be_included_in_the_wish(two_nodes: TwoNodes) -> None:
    """All of it is taken already where more are needed than lie there."""
    script = Script(options=PREFERS, prefer=lambda _: ["x"])
    kubelet, plugin = two_nodes.start(Policy.BEST_EFFORT, script)
    aligned = [*healthy("a0", "b0", numa=0), *healthy("a1", "b1", numa=1)]
    send(kubelet, plugin, aligned, healthy("x", "y"))
    assert kubelet.admit(pod_of("u", 5)) is None
    (request,) = preferences(kubelet)
    assert sorted(request.must_include_deviceIDs) == ["a0", "a1", "b0", "b1"]
    assert len(request.available_deviceIDs) == 6
    assert request.allocation_size == 5
    assert devices_of(kubelet, "u") == {"a0", "a1", "b0", "b1", "x"}


def test_a_held_device_that_is_gone_ends_the_kubelet(two_nodes: TwoNodes) -> None:
    """Asked where it lies as its pod is admitted again, the real one dies of a nil pointer."""
    kubelet, plugin = two_nodes.start(Policy.RESTRICTED)
    kubelet.admit(pod_of("u", 4))
    send(kubelet, plugin, healthy("a0", numa=0))
    with pytest.raises(KubeletCrash):
        kubelet.admit(pod_of("u", 4))
