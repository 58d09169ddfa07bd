"""What every project pays that has gpu-lab installed, whether its tests want a lab or not."""

import subprocess
import sys
from typing import Final

#: Prints which libraries are loaded with the plugin, but for what pytest itself has loaded.
PROGRAM: Final = """
import sys
import pytest

before = {each.partition(".")[0] for each in sys.modules}
import lab.harness.pytest_plugin

print(*sorted({each.partition(".")[0] for each in sys.modules} - before - sys.stdlib_module_names))
"""


def test_the_plugin_loads_no_library() -> None:
    """The client of Kubernetes alone takes half a second: it comes with the first lab."""
    ended = subprocess.run(
        (sys.executable, "-c", PROGRAM), check=True, capture_output=True, text=True
    )
    assert ended.stdout.split() == ["lab"]
