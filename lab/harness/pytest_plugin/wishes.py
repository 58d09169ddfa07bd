"""What a test asks of its lab, by the marker `gpu_lab`."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import pytest

from lab.core.language import LANGUAGES, Language
from lab.harness.pytest_plugin.options import BACKENDS

if TYPE_CHECKING:
    from lab.core.fleet import Fleet

MARKER: Final = (
    "gpu_lab(fleet=..., backend=..., needs=..., titles=..., section=...): what the lab of a test "
    "is to be. `fleet` is a name, the path of a fleet file, or a Fleet; `backend` one or several "
    "that the test holds on; `needs` what has to be possible on nodes, or there; `titles` (by "
    "language: en, zh) and `section` are how a report tells of the test."
)
FIXTURE: Final = "gpu_lab"
_ARGUMENTS: Final = ("fleet", "backend", "needs", "titles", "section")
_YAML: Final = (".yaml", ".yml")


@dataclass(frozen=True)
class Wish:
    """The fleet of a test, the backends that it holds on (none: all), and what it needs of them.

    `test` is the test's ID, without the group that pytest-xdist adds to it; `titles` and `section`
    are as in `lab.harness.results.Result`.
    """

    test: str
    fleet: "Fleet"
    backends: tuple[str, ...]
    needs: frozenset[str]
    titles: Mapping[Language, str]
    section: str

    @property
    def group(self) -> str:
        """A name that tests with the same fleet have in common, in all processes."""
        from lab.core.fleet import dump_fleet  # noqa: PLC0415 - only where a test wants a lab

        told = hashlib.sha256(dump_fleet(self.fleet).encode()).hexdigest()
        return "-".join((*(pool.name for pool in self.fleet.pools), told[:6]))


_WISH: Final = pytest.StashKey[Wish]()


def wants_lab(item: pytest.Item) -> bool:
    """Whether a test has a lab."""
    return FIXTURE in getattr(item, "fixturenames", ())


def wish_of(item: pytest.Item) -> Wish:
    """Return what a test asks for; raises `pytest.UsageError` for what nobody could give."""
    if _WISH not in item.stash:
        item.stash[_WISH] = _read(item)
    return item.stash[_WISH]


def _read(item: pytest.Item) -> Wish:
    from lab.harness.lacking import NEEDS  # noqa: PLC0415 - only where a test wants a lab

    said: dict[str, object] = {}
    # The nearest one last: what a class or a module says counts where the test says nothing.
    for mark in reversed([*item.iter_markers(FIXTURE)]):
        if mark.args:
            raise _wrong(item, f"{mark.args[0]!r} has no name: write fleet=…, backend=… or needs=…")
        said |= mark.kwargs
    if unknown := said.keys() - {*_ARGUMENTS}:
        known = ", ".join(_ARGUMENTS)
        raise _wrong(item, f"it has no argument {min(unknown)!r}; there are {known}")
    return Wish(
        item.nodeid,
        _fleet(item, said),
        _names(item, said, "backend", BACKENDS),
        frozenset(_names(item, said, "needs", NEEDS)),
        _titles(item, said.get("titles", {})),
        str(said.get("section", "")),
    )


def _titles(item: pytest.Item, found: object) -> Mapping[Language, str]:
    match found:
        case {**titles} if all(
            key in LANGUAGES and isinstance(title, str) for key, title in titles.items()
        ):
            return cast("Mapping[Language, str]", titles)
    raise _wrong(item, f"titles={found!r}: a text for each language, of {', '.join(LANGUAGES)}")


def _names(
    item: pytest.Item, said: Mapping[str, object], key: str, known: tuple[str, ...]
) -> tuple[str, ...]:
    found = said.get(key, ())
    names = (found,) if isinstance(found, str) else found
    if not isinstance(names, tuple | list | set | frozenset):
        raise _wrong(item, f"{key}={found!r}: a name or several")
    for name in names:
        if name not in known:
            raise _wrong(item, f"{key}={name!r}: there are {', '.join(known)}")
    return tuple(names)


def _fleet(item: pytest.Item, said: Mapping[str, object]) -> "Fleet":
    from lab.core.errors import LabError  # noqa: PLC0415 - as above
    from lab.core.fleet import Fleet, load_fleet  # noqa: PLC0415 - as above
    from lab.harness.fleets import fleet_named, fleet_names  # noqa: PLC0415 - as above

    match said.get("fleet"):
        case None:
            return Fleet.default()
        case Fleet() as fleet:
            return fleet
        case str() | Path() as name:
            pass
        case other:
            raise _wrong(item, f"fleet={other!r}: a name, a path or a Fleet")
    try:
        if str(name) in fleet_names():
            return fleet_named(str(name))
        return load_fleet(_file(item, Path(name), fleet_names()))
    except LabError as error:
        raise _wrong(item, str(error)) from error


def _file(item: pytest.Item, path: Path, names: tuple[str, ...]) -> Path:
    folders = dict.fromkeys((item.path.parent, item.config.rootpath))
    for folder in folders:
        if (folder / path).is_file():
            return folder / path
    if path.suffix not in _YAML:
        raise _wrong(item, f"there is no fleet {str(path)!r}, but {', '.join(names)}")
    looked = " and ".join(map(str, folders))
    raise _wrong(item, f"there is no file {str(path)!r}; looked for it in {looked}")


def _wrong(item: pytest.Item, what: str) -> pytest.UsageError:
    return pytest.UsageError(f"{item.nodeid}: marker gpu_lab: {what}")
