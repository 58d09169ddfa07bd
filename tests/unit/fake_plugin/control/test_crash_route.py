"""A plugin that ends on command, and not in order."""

import pytest

from tests.unit.fake_plugin.control.conftest import Call


@pytest.mark.parametrize(("body", "code"), [({}, 137), ({"exitCode": 0}, 0), ({"exitCode": 2}, 2)])
def test_the_plugin_ends_on_command(call: Call, ended: list[int], body: object, code: int) -> None:
    """As if it were killed, unless another exit code is asked for."""
    assert call("POST", "/v1/crash", body).body == {"exitCode": code}
    assert ended == [code]


@pytest.mark.parametrize("code", [-1, 256, "1", True, None])
def test_an_exit_code_that_no_process_has_ends_nothing(
    call: Call, ended: list[int], code: object
) -> None:
    """The rule is told."""
    told = call("POST", "/v1/crash", {"exitCode": code})
    assert ended == []
    assert (told.status, told.what) == (400, "exitCode must be a whole number from 0 to 255")
