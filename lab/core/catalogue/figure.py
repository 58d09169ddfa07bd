"""A figure of a model: a value with its unit and source, or one that nobody has published."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, NoReturn, TypeAlias

#: `vendor`: a document or a tool of the vendor; `secondary`: a page that quotes one; `disputed`:
#: sources differ; `derived`: computed from another figure; `none`: the value is unknown.
Confidence: TypeAlias = Literal["vendor", "secondary", "disputed", "derived", "none"]


class Unrankable(TypeError):
    """Figures were compared of which one is not known, or which are not of one kind."""


class Unknown(Enum):
    """The value of a figure that is not known: equal to itself, and not to be ranked by."""

    UNKNOWN = "unknown"

    def _refuse(self, other: object) -> NoReturn:
        raise Unrankable(f"a figure that is not known cannot be ranked against {other!r}")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def __bool__(self) -> NoReturn:
        raise Unrankable("a figure that is not known is neither true nor false, and it is not 0")


UNKNOWN: Final = Unknown.UNKNOWN


@dataclass(frozen=True)
class Figure:
    """A value, its unit, where it is from and how far to trust that.

    `dense` tells a rate without sparsity from one that counts what is left out, and is None where
    that makes no difference. 0 TFLOPS says that the hardware has no such arithmetic.
    """

    value: float | Unknown
    unit: str
    source: str
    confidence: Confidence
    dense: bool | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is a value."""
        return self.value is not UNKNOWN

    def known(self) -> float | None:
        """Return the value, or None where there is none."""
        return None if isinstance(self.value, Unknown) else self.value

    def __lt__(self, other: "Figure") -> bool:
        return self._rank(other) < other._rank(self)

    def __le__(self, other: "Figure") -> bool:
        return self._rank(other) <= other._rank(self)

    def __gt__(self, other: "Figure") -> bool:
        return self._rank(other) > other._rank(self)

    def __ge__(self, other: "Figure") -> bool:
        return self._rank(other) >= other._rank(self)

    def _rank(self, other: Any) -> float:  # noqa: ANN401 - of a comparison
        if not isinstance(other, Figure) or (self.unit, self.dense) != (other.unit, other.dense):
            raise Unrankable(f"{self} cannot be ranked against {other}: they differ in kind")
        if isinstance(self.value, Unknown):
            raise Unrankable(
                f"a figure in {self.unit} is not known ({self.source}): nothing may be ranked by "
                "it; leave the model out, or ask for another figure"
            )
        return self.value

    def __str__(self) -> str:
        kind = {True: " dense", False: " sparse", None: ""}[self.dense]
        value = "unknown" if isinstance(self.value, Unknown) else f"{self.value:g}"
        return f"{value} {self.unit}{kind}"
