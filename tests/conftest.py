"""What the surroundings of a run say of its output is kept from what the tests start.

A test that reads what a program prints would pass or fail by who runs it: pytest, for one, tells
its failures at full length where CI is set.
"""

from collections.abc import Iterator

import pytest

#: pytest's own are read in `_pytest/compat.py` and `_pytest/_io/terminalwriter.py`, Rich's in
#: `rich/console.py`.
OF_THE_OUTPUT = (
    "BUILD_NUMBER",
    "CI",
    "COLUMNS",
    "FORCE_COLOR",
    "LINES",
    "NO_COLOR",
    "PY_COLORS",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)


@pytest.fixture(autouse=True, scope="session")
def _the_same_surroundings() -> Iterator[None]:
    """Until the last test has ended: the summary after it is for who runs the tests."""
    with pytest.MonkeyPatch.context() as environment:
        for name in OF_THE_OUTPUT:
            environment.delenv(name, raising=False)
        yield
