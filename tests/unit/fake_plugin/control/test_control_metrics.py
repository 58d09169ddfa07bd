"""What a scrape can choose, and what it cannot."""

import pytest

from fake_plugin.control.exchange import Request
from fake_plugin.control.refusal import Refusal
from fake_plugin.control.routes import Routes


def scraped(routes: Routes, **query: str) -> str:
    """Return the text for a query."""
    request = Request("GET", "/metrics", query, "", "", lambda: b"")
    return b"".join(routes.answer(request).pieces).decode()


def test_scrape_has_the_exporters_own_list_unless_it_asks(routes: Routes) -> None:
    """And the label of the node as it is spelt today."""
    text = scraped(routes)
    assert "DCGM_FI_DEV_PCIE_TX_THROUGHPUT{" in text
    assert 'modelName="NVIDIA H100 80GB HBM3",hostname="worker"' in text


def test_scrape_may_ask_for_the_operators_list(routes: Routes) -> None:
    """And for the older spelling: Prometheus sends both as `params` of a job."""
    text = scraped(routes, dcgm="operator", hostname="Hostname")
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE{" in text
    assert 'Hostname="worker",DCGM_FI_DRIVER_VERSION="' in text


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ({"dcgm": "mine"}, "dcgm must be default or operator"),
        ({"hostname": "HOSTNAME"}, "hostname must be hostname or Hostname"),
        ({"list": "operator"}, "list is not known: dcgm and hostname are"),
    ],
)
def test_query_that_makes_no_sense_is_refused(
    routes: Routes, query: dict[str, str], what: str
) -> None:
    """With the rule that it breaks."""
    with pytest.raises(Refusal) as refused:
        scraped(routes, **query)
    assert (refused.value.status, refused.value.what) == (400, what)
