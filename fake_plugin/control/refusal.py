"""A call that is refused: nothing has changed."""

from http import HTTPStatus


class Refusal(Exception):
    """Why a call of the control API is not followed, with its HTTP status."""

    def __init__(
        self, status: HTTPStatus, what: str, *, where: str = "", seen: str = "", remedy: str = ""
    ) -> None:
        super().__init__(what)
        self.status = status
        self.what = what
        self.where = where
        self.seen = seen
        self.remedy = remedy

    def as_json(self) -> dict[str, dict[str, str]]:
        """Return the body of the answer; what is not known is empty."""
        facts = {"what": self.what, "where": self.where, "seen": self.seen, "remedy": self.remedy}
        return {"error": facts}
