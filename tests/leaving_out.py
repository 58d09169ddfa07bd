"""What becomes of a test that this machine has no means for."""

import os
from typing import NoReturn

import pytest

#: Set to `kind` where nothing may be left out, as by the gate.
NAME = "GPULAB_REQUIRE"


def leave_out(reason: str) -> NoReturn:
    """Skip the test with the reason; where nothing may be left out, fail it."""
    if nothing_is_left_out():
        pytest.fail(f"{NAME} is set, but {reason}")
    pytest.skip(reason)


def nothing_is_left_out() -> bool:
    """Return whether each test has to run."""
    return bool(os.environ.get(NAME))
