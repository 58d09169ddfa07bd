"""What a call's address says behind its question mark, where that makes no sense."""

from http import HTTPStatus

from fake_plugin.control.exchange import Request
from fake_plugin.control.refusal import Refusal
from fake_plugin.shortening import cut


def wrong_query(name: str, rule: str, request: Request) -> Refusal:
    """Return the refusal for a key of the query; both may be anything, of any length."""
    seen = cut(f"{name}={request.query[name]}")
    return Refusal(HTTPStatus.BAD_REQUEST, f"{cut(name)} {rule}", where="the query", seen=seen)
