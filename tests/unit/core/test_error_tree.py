"""The tree of errors is what its docstring draws."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Final

import pytest

import lab
from lab.core import errors
from lab.core.errors import Told

#: The strokes in front of a name, the name, and what is said of it.
DRAWN_LINE: Final = re.compile(r"^ {4}((?:[│├└ ][ ─]{2} )*)(\w+) {2,}(.+)$", re.MULTILINE)
STROKE: Final = 4


def drawn() -> dict[str, tuple[str, str]]:
    """Return the parent of every class that is drawn, and what is said of it, by its name."""
    above: list[str] = []
    found = {}
    for strokes, name, said in DRAWN_LINE.findall(errors.__doc__ or ""):
        depth = len(strokes) // STROKE
        above[depth:] = [name]
        found[name] = (above[depth - 1] if depth else "BaseException", said)
    return found


def descendants(cls: type[Told]) -> Iterator[type[Told]]:
    """Yield a class and all that derive from it in the lab."""
    yield cls
    for each in cls.__subclasses__():
        if each.__module__.startswith("lab."):
            yield from descendants(each)


@pytest.fixture(scope="module")
def classes() -> dict[str, type[Told]]:
    """Return every error of the lab, all of whose modules are imported for that."""
    for module in pkgutil.walk_packages(lab.__path__, "lab."):
        importlib.import_module(module.name)
    return {each.__name__: each for each in descendants(Told)}


def test_every_error_is_drawn_below_its_parent(classes: dict[str, type[Told]]) -> None:
    """None is left out, made up, or drawn elsewhere than it is."""
    tree = {name: parent for name, (parent, _) in drawn().items()}
    assert tree == {
        name: base.__name__
        for name, each in classes.items()
        for base in each.__bases__
        # What Python and pytest ask of them as well.
        if base not in {Exception, KeyboardInterrupt, AssertionError}
    }


def test_exit_codes_are_drawn_where_they_are_set(classes: dict[str, type[Told]]) -> None:
    """A line without a code has that of the line that it hangs from."""
    codes = {"BaseException": Told.exit_code.value}
    for name, (parent, said) in drawn().items():
        own = re.match(r"exit (\d+)", said)
        codes[name] = int(own[1]) if own else codes[parent]
    del codes["BaseException"]
    assert codes == {name: each.exit_code.value for name, each in classes.items()}


def test_errors_of_other_modules_say_which(classes: dict[str, type[Told]]) -> None:
    """The module stands in brackets at the end of the line."""
    told = {name: re.findall(r"\((lab\.[\w.]+)\)$", said) for name, (_, said) in drawn().items()}
    assert told == {
        name: [] if each.__module__ == errors.__name__ else [each.__module__]
        for name, each in classes.items()
    }
