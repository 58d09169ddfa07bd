"""A timeline as lines of text, in both languages."""

import pytest
from rich.cells import cell_len

from lab.core.language import Language
from lab.harness.timeline.text import lines
from lab.harness.timeline.timeline import Timeline
from lab.harness.timeline.width import wrapped
from tests.unit.harness.timeline.observed import GPU, IDS, allocate, pending, rejected, running
from tests.unit.harness.timeline.test_allocation import REFUSED

ENGLISH = f"""\
pod default/p (Running; gpu-lab-worker; {GPU}: 1)
2026-12-01: Times are UTC. With milliseconds: as written down. Without: in that second. \
a … b: between the two. ≤ b: not later.

✓ 1  10:00:01.100                 plugin                  scans the node for cards
    2 cards, offered as {GPU} [plugin's log]
✓ 2  10:00:01.200                 plugin → kubelet        registers the resource (Register)
    {GPU} [plugin's journal]
✓ 3  10:00:01.250                 plugin → kubelet        sends the list of devices (ListAndWatch)
    2 of 2 devices healthy [plugin's journal]
✓ 4  10:00:01.250 … 10:00:04.000  kubelet → API server    writes allocatable into the node's status
    {GPU}: 2 [node's status]
✓ 5  10:00:05.123                 scheduler → API server  binds the pod to a node
    to gpu-lab-worker [event]
✓ 6  10:00:05.200                 kubelet → plugin        asks for devices (Allocate)
    c: {IDS[0]} [plugin's journal]
✓ 7  10:00:05.202                 plugin → kubelet        answers what a container gets
    c: 1 variable, 1 device file [plugin's journal]
✓ 8  10:00:06                     kubelet → runtime       hands the container to the runtime
    [event]
✓ 9  10:00:07                     container               sees its devices
    c: 1 of 2 devices: GPULAB_VISIBLE_DEVICES={IDS[0]} [pod's log]
"""
CHINESE = f"""\
… 5  10:00:05.500                 scheduler → API server  把 Pod 绑定到节点
    尚未发生：0/2 nodes are available: 2 Insufficient {GPU}.；已尝试 3 次 [事件]
… 6  -                            kubelet → plugin        请求设备（Allocate）
    尚未发生：Pod 还没有节点
… 7  -                            plugin → kubelet        回答容器应得到什么
    尚未发生：Pod 还没有节点
… 8  -                            kubelet → 运行时        把容器交给运行时
    尚未发生：Pod 还没有节点
… 9  -                            容器                    看到自己的设备
    尚未发生：Pod 还没有节点
"""


def test_running_pod_is_told_to_the_end() -> None:
    """Who, when, what, what came of it, and where that is known from."""
    assert "\n".join(lines(Timeline.of(running()), "en")) == ENGLISH.rstrip()


def test_pending_pod_is_told_as_far_as_it_came() -> None:
    """In the reader's language, with the scheduler's own words."""
    assert "\n".join(lines(Timeline.of(pending()), "zh")).endswith(CHINESE.rstrip())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_line_fits(language: Language) -> None:
    """However long what a component said."""
    seen = rejected((allocate(3, 5.2, IDS[0], code="UNKNOWN"),), REFUSED * 5)
    _, _, *below = lines(Timeline.of(seen), language)
    assert max(map(cell_len, below)) <= 100


def test_pod_that_is_not_there_is_told_without_it() -> None:
    """All of it is unknown, and nothing is raised."""
    timeline = Timeline.of(running(pod=None, resources=(), missing={"pod": "not found"}))
    assert next(iter(lines(timeline, "en"))) == "pod default/p (gpu-lab-worker)"
    assert {each.outcome for each in timeline.steps[4:]} == {"unknown"}


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("one two three", ["one two", "three"]),
        ("abcdefghijkl", ["abcdefgh", "ijkl"]),
        ("把容器给，运行", ["把容器", "给，运行"]),
        ("容器，得到 GPU", ["容器，得", "到 GPU"]),
        ("KEY=abcdef,ghi", ["KEY=", "abcdef,", "ghi"]),
        ("one KEY=a,b", ["one", "KEY=a,b"]),
        ("🙂🙂🙂🙂🙂", ["🙂🙂🙂🙂", "🙂"]),
        ("", []),
        ("  ", []),
    ],
)
def test_text_is_broken_where_that_may_be(text: str, broken: list[str]) -> None:
    """At blanks, and between Chinese characters, but not before their punctuation."""
    assert list(wrapped(text, 8)) == broken


def test_a_pod_without_a_node_is_not_told_to_have_one() -> None:
    """The node that could serve it is told in the steps."""
    first, *_ = lines(Timeline.of(pending()), "en")
    assert first == f"pod default/p (Pending; no node; {GPU}: 1)"
    first, *_ = lines(Timeline.of(pending()), "zh")
    assert first == f"Pod default/p（Pending；没有节点；{GPU}: 1）"
