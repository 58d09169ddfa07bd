"""The images that a chart asks for: the list is its values', and written down nowhere else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from lab.core.errors import CheckFailed

_NFD: Final = "charts/node-feature-discovery"


@dataclass(frozen=True)
class ChartImage:
    """What one component is run from: where the values name it, such as `driver.manager`.

    `tag` is that of the chart itself where the values name none, as for what is released with it.
    """

    component: str
    repository: str
    tag: str

    @property
    def reference(self) -> str:
        """The image's name, as in a pod."""
        return f"{self.repository}:{self.tag}"


def images_of(chart: Path) -> tuple[ChartImage, ...]:
    """Return the images of the operator's chart and of the one within it, in the values' order.

    `driver` has no system in its tag here: the operator adds that of the first node with a GPU.
    Raises `CheckFailed` where the values are of another shape.
    """
    about = _read(chart / "Chart.yaml")
    found = tuple(_found(_read(chart / "values.yaml"), about["appVersion"]))
    if not found:
        raise CheckFailed("the chart names no images", where=str(chart / "values.yaml"))
    features = _read(chart / _NFD / "values.yaml")["image"]
    tag = features.get("tag") or _read(chart / _NFD / "Chart.yaml")["appVersion"]
    return (*found, ChartImage("nfd", features["repository"], tag))


def _found(
    values: Mapping[str, Any], otherwise: str, above: tuple[str, ...] = ()
) -> Iterator[ChartImage]:
    for name, value in values.items():
        if not isinstance(value, dict):
            continue
        path = (*above, name)
        match value:
            # Where the values name no repository, the user has to: there is no image of it.
            case {"image": str(image), "repository": str(repository)} if repository:
                tag = value.get("version") or otherwise
                yield ChartImage(".".join(path), f"{repository}/{image}", tag)
        yield from _found(value, otherwise, path)


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found
