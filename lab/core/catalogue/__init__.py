"""The catalogue of accelerators: models by name, each figure with its source.

    data/*.yaml → reading → Model(figures, profiles)
    figure        a value that may be unknown, and then refuses to be ranked by

Figures of marketing are told from each other by `dense`, packages from devices by
`devices_per_package`, and what nobody has published stays unknown: it is not 0, and nothing may
sort by it.
"""

import difflib
import re
from functools import cache

from lab.core.catalogue.figure import UNKNOWN, Figure, Unrankable
from lab.core.catalogue.model import Cut, Model

__all__ = ["UNKNOWN", "Cut", "Figure", "Model", "Unrankable", "catalogue", "closest"]


@cache
def catalogue() -> dict[str, Model]:
    """Return every model by its name, in the order of the data."""
    # `gpulab --help` has 150 ms, and pydantic and PyYAML would take most of them.
    from lab.core.catalogue.reading import read_models  # noqa: PLC0415 - see above

    return {model.name: model for model in read_models()}


def closest(name: str) -> list[str]:
    """Return up to three names that are most like one that is not in the catalogue."""
    words = re.split(r"[^a-z0-9]+", name.lower())
    with_all = [known for known in catalogue() if all(word in known for word in words)]
    return with_all[:3] or difflib.get_close_matches(name.lower(), catalogue(), n=3, cutoff=0.3)
