"""The command that runs just one test again."""

from os.path import relpath

import pytest

from lab.harness.again import of_pytest
from lab.harness.pytest_plugin.options import lab_options


def again(test: str, config: pytest.Config) -> str:
    """Return it for a test's ID, for the folder that pytest was started in, with such a lab."""
    path, *names = test.split("::")
    here = relpath(config.rootpath / path, config.invocation_params.dir)
    return of_pytest(("::".join((here, *names)),), lab_options(config))
