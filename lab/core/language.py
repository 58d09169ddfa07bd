"""The languages in which the lab explains what it shows."""

from typing import Final, Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
