"""A sentence in each of the two languages of the lab.

What a component of the cluster has said is quoted as it is in both.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from lab.core.language import Language


@dataclass(frozen=True)
class Phrase:
    """The same in English and in Chinese."""

    en: str
    zh: str

    @classmethod
    def quoted(cls, text: str) -> "Phrase":
        """Return somebody's own words."""
        return cls(text, text)

    @classmethod
    def joined(cls, phrases: Iterable["Phrase"]) -> "Phrase":
        """Return several as one, those that say something."""
        said = [each for each in phrases if each.en]
        return cls("; ".join(each.en for each in said), "；".join(each.zh for each in said))

    def text(self, language: Language) -> str:
        """Return it in a language."""
        return self.en if language == "en" else self.zh

    def as_json(self) -> dict[str, JsonValue]:
        """Return both, by the codes of their languages."""
        return {"en": self.en, "zh": self.zh}


NOTHING = Phrase("", "")
