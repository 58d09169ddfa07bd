"""Fleet files written for one test, and what is wrong with them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core.fleet import FleetError, load_fleet

POOL = "apiVersion: gpu-lab/v1\nkind: Fleet\npools:\n- name: a\n"


@pytest.fixture
def findings_of(tmp_path: Path) -> Callable[[str | bytes], list[str]]:
    """Return what is found wrong in a file: the lines of the error, after the file's name."""

    def found(content: str | bytes) -> list[str]:
        file = tmp_path / "f.yaml"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(FleetError) as error:
            load_fleet(file)
        return [line.removeprefix(str(file)) for line in error.value.seen.splitlines()]

    return found


@pytest.fixture
def findings_of_pool(findings_of: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Return what is found wrong in a sound pool after its keys are replaced by these, or added."""

    def found(changes: str) -> list[str]:
        sound = {"name": "a", "nodes": "1", "resource": "a.example.com/x", "count": "2"}
        lines = [line for line in changes.splitlines() if line]
        changed = {line.partition(":")[0]: line.partition(":")[2].strip() for line in lines}
        merged = {key: value for key, value in (sound | changed).items() if value != "-"}
        pool = "\n  ".join(f"{key}: {value}" for key, value in merged.items())
        text = f"apiVersion: gpu-lab/v1\nkind: Fleet\npools:\n- {pool}\n"
        return [line.split(": ", 1)[1] for line in findings_of(text)]

    return found
