"""GET /metrics, whose query chooses among what NVIDIA's exporter can be told to print.

?dcgm=operator        the list of fields that the GPU Operator gives it, and not its own
?hostname=Hostname    how the label of the node was spelt before release 4.8.3
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from fake_plugin.control.exchange import Answer, Request
from fake_plugin.control.query import wrong_query
from fake_plugin.metrics.endpoint import CONTENT_TYPE, Endpoint
from fake_plugin.metrics.style import HOSTNAMES, LISTS, Style

_Word = TypeVar("_Word", bound=str)
_KEYS: Final = ("dcgm", "hostname")


class Metrics:
    """Answers the scrapes of a node."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def answer(self, request: Request) -> Answer:
        """Return the text, in pieces; raises `Refusal` for a query that makes no sense."""
        for name in request.query:
            if name not in _KEYS:
                raise wrong_query(name, f"is not known: {' and '.join(_KEYS)} are", request)
        style = Style(
            fields=_chosen(request, "dcgm", LISTS),
            hostname=_chosen(request, "hostname", HOSTNAMES),
        )
        return Answer(self._endpoint.pieces(style), content_type=CONTENT_TYPE)


def _chosen(request: Request, name: str, words: Sequence[_Word]) -> _Word:
    """Return which of the words the query says; the first where it says none."""
    said = request.query.get(name, words[0])
    for word in words:
        if word == said:
            return word
    raise wrong_query(name, f"must be {' or '.join(words)}", request)
