"""How the command of a plugin is read, and what the plugin is told."""

from pathlib import Path

import pytest

from lab.conformance.command import PluginCommand
from lab.core.errors import UsageError
from lab.host.processes import Processes


def test_the_folder_is_put_where_the_command_has_a_place_for_it() -> None:
    """Also within an argument, and more than once."""
    command = PluginCommand.parse("env SOCKET={dir}/kubelet.sock 'my plugin' {dir}")
    launch = command.on(Path("/k"), Processes())
    assert launch.argv == ("env", "SOCKET=/k/kubelet.sock", "my plugin", "/k")
    assert launch.variables == {}


def test_the_folder_is_in_the_variable_that_is_named() -> None:
    """The command is left as it is."""
    launch = PluginCommand.parse("my-plugin -v", "PLUGIN_DIR").on(Path("/k"), Processes())
    assert launch.argv == ("my-plugin", "-v")
    assert launch.variables == {"PLUGIN_DIR": "/k"}


@pytest.mark.parametrize(
    ("text", "variable", "words"),
    [
        ("", "", "the plugin's command is empty"),
        ("  ", "", "the plugin's command is empty"),
        ("my-plugin 'x", "", "No closing quotation: my-plugin 'x"),
        ("my-plugin", "A=B", "'A=B' is not the name of a variable"),
        ("my-plugin", "1A", "use letters, digits and '_', with no digit first"),
    ],
)
def test_what_cannot_be_a_command_is_refused(text: str, variable: str, words: str) -> None:
    """With what is wrong, and what would be right."""
    with pytest.raises(UsageError) as refused:
        PluginCommand.parse(text, variable)
    assert words in refused.value.render()
