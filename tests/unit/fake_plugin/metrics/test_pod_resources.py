"""Who holds which device, as the kubelet says it."""

from pathlib import Path

from fake_plugin.metrics.pod_resources import Answer, PodResources
from tests.unit.fake_plugin.conftest import Said
from tests.unit.fake_plugin.metrics.fixtures import pod
from tests.unit.fake_plugin.metrics.lister import Lister


class Clock:
    """A time that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def test_holders_are_told_by_resource_and_device(lister: Lister, socket: Path) -> None:
    """Two resources may have devices of one name; containers of one pod are two holders."""
    lister.pods = {
        ("a", "one"): {"main": {"x.io/gpu": ["0", "1"]}, "side": {"y.io/gpu": ["0"]}},
        ("b", "two"): {"main": {"x.io/gpu": ["2::1"]}},
    }
    assert PodResources(socket).answer() == Answer(
        {
            ("x.io/gpu", "0"): pod("one", "a"),
            ("x.io/gpu", "1"): pod("one", "a"),
            ("y.io/gpu", "0"): pod("one", "a", "side"),
            ("x.io/gpu", "2::1"): pod("two", "b"),
        }
    )


def test_node_without_pods_is_no_problem(lister: Lister, socket: Path) -> None:
    """Nobody holds anything, and that is known."""
    del lister
    assert PodResources(socket).answer() == Answer({})


def test_answer_is_kept_for_a_second(lister: Lister, socket: Path) -> None:
    """Many scrapes are one call: the kubelet limits them."""
    clock = Clock()
    resources = PodResources(socket, clock)
    resources.answer()
    clock.now = 0.9
    resources.answer()
    assert lister.calls == 1
    clock.now = 1.0
    resources.answer()
    assert lister.calls == 2


def test_missing_socket_is_told_and_no_exception(socket: Path, said: Said) -> None:
    """The reason is in the answer, and in the log once."""
    clock = Clock()
    resources = PodResources(socket, clock)
    first = resources.answer()
    clock.now = 5.0
    assert resources.answer() == first
    assert first.holders == {}
    assert first.problem.startswith("UNAVAILABLE: ")
    assert said("holders-unknown") == [{"socket": str(socket), "reason": first.problem}]


def test_limited_rate_is_told_in_the_kubelets_words(lister: Lister, socket: Path) -> None:
    """It refuses calls beyond a hundred a second."""
    lister.refuses = True
    problem = PodResources(socket).answer().problem
    assert problem == "RESOURCE_EXHAUSTED: rejected by rate limit"


def test_kubelet_that_hangs_does_not_hang_the_scrape(lister: Lister, socket: Path) -> None:
    """The call has an end of its own."""
    lister.hangs = True
    assert PodResources(socket).answer().problem.startswith("DEADLINE_EXCEEDED: ")


def test_kubelet_that_comes_back_is_asked_again(socket: Path, said: Said) -> None:
    """After a restart the pods have their names again; a second loss is told again."""
    clock = Clock()
    resources = PodResources(socket, clock)
    assert resources.answer().problem
    lister = Lister(socket)
    lister.pods = {("a", "one"): {"main": {"x.io/gpu": ["0"]}}}
    clock.now = 1.0
    assert resources.answer() == Answer({("x.io/gpu", "0"): pod("one", "a")})
    lister.stop()
    clock.now = 2.0
    assert resources.answer().problem
    assert len(said("holders-unknown")) == 2


def test_large_answer_is_taken(lister: Lister, socket: Path) -> None:
    """More than the 4 MiB that a client takes unless told otherwise."""
    devices = [f"{'x' * 200}-{number}" for number in range(20_000)]
    lister.pods = {("a", "one"): {"main": {"x.io/gpu": devices}}}
    assert len(PodResources(socket).answer().holders) == 20_000
