"""The command that runs just one test again."""

import shlex
from os.path import relpath

import pytest

from lab.harness.pytest_plugin.options import lab_options


def again(test: str, config: pytest.Config) -> str:
    """Return it for a test's ID, for the folder that pytest was started in, with such a lab."""
    path, *names = test.split("::")
    here = relpath(config.rootpath / path, config.invocation_params.dir)
    return f"pytest {shlex.join(('::'.join((here, *names)), *lab_options(config)))}"
