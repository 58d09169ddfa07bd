"""What Prometheus' own program has to say about the metrics."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from fake_plugin.metrics import amd, ascend, dcgm, own, unified
from fake_plugin.metrics.families import Family, Metric, Sample
from fake_plugin.metrics.history import History
from fake_plugin.metrics.pod_resources import Answer
from fake_plugin.metrics.style import Style
from fake_plugin.serving.journal import Tally
from tests.unit.fake_plugin.metrics.fixtures import (
    ASCEND,
    ASCEND_310P,
    CPX,
    H100,
    MI210,
    MI300X,
    NODE,
    NOW,
    SLICE,
    T4,
    VNPU,
    Node,
    board,
    card,
    part,
    pod,
    reading,
)
from tests.unit.fake_plugin.metrics.scrape import kept, promtool, text

CAMEL: Final = "label names should be written in 'snake_case' not 'camelCase'"
NO_TOTAL: Final = 'counter metrics should have "_total" suffix'
TOTAL: Final = 'non-counter metrics should not have "_total" suffix'
#: By what promtool finds: the metrics of NVIDIA's exporter that are so called.
DCGM_COUNTERS: Final = {
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_PCIE_TX_THROUGHPUT",
    "DCGM_FI_DEV_PCIE_RX_THROUGHPUT", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "DCGM_FI_DEV_RETIRED_SBE", "DCGM_FI_DEV_RETIRED_DBE",
}  # fmt: skip
WHOLE: Final = (H100, T4, MI300X, MI210, ASCEND, ASCEND_310P)
CUT: Final = ((H100, SLICE), (MI300X, CPX), (ASCEND, VNPU))
TALLY: Final = Tally({("Allocate", "x.io/gpu", "OK"): 1}, {"x.io/gpu": 1}, {("Allocate", "x"): 1})
EVERYTHING: Final = [
    *(reading(card(model, at), None, pod("train")) for at, model in enumerate(WHOLE)),
    *(reading(of, part(of, 0, p), pod("a")) for of, p in ((card(m, 9), p) for m, p in CUT)),
    reading(card(None)),
]


def findings(families: Iterable[Family]) -> dict[str, set[str]]:
    """Return what promtool finds, each with the metrics that it finds it of."""
    done = promtool("check", "metrics", text=text(families))
    found: dict[str, set[str]] = {}
    for line in done.stderr.splitlines():
        metric, _, finding = line.partition(" ")
        found.setdefault(finding, set()).add(metric)
    assert done.returncode == (3 if found else 0), done.stderr
    return found


def test_our_own_metrics_pass_without_a_finding(tmp_path: Path, history: History) -> None:
    """The unified schema, and what the plugin says of itself."""
    families = [
        *unified.families(EVERYTHING, history, NODE),
        *own.families(Node(board(tmp_path), []), TALLY, Answer({})),
    ]
    assert len(families) == 14
    assert findings(families) == {}


@pytest.mark.parametrize("style", [Style("default"), Style("operator")])
def test_nvidias_metrics_have_the_findings_of_nvidias_names(history: History, style: Style) -> None:
    """Every one has a label `modelName`, and no counter ends as counters should."""
    families = kept(dcgm.families(EVERYTHING, history, NODE, style))
    every = {family.metric.name for family in families}
    assert findings(families) == {
        CAMEL: every,
        NO_TOTAL: DCGM_COUNTERS & every,
        "metric name should not include type 'counter'": {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER"},
    }


def test_amds_metrics_have_the_findings_of_amds_names(history: History) -> None:
    """Gauges that end as counters should."""
    families = amd.families(EVERYTHING, history, NODE)
    assert findings(families) == {
        TOTAL: {"gpu_ecc_correct_total", "gpu_ecc_uncorrect_total", "gpu_nodes_total"}
    }


def test_ascends_metrics_have_the_findings_of_ascends_names() -> None:
    """One label with a capital in it."""
    families = ascend.families(EVERYTHING, NOW)
    assert findings(families) == {CAMEL: {"npu_exporter_version_info"}}


def test_promtool_would_find_a_fault() -> None:
    """The check is no empty one."""
    bad = Family(Metric("bad", "gauge", ""), (Sample((), 1),))
    assert findings([bad]) == {"no help text": {"bad"}}
