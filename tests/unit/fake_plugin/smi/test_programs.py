"""The programs on the node, and their mounts."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from fake_plugin.hardware.accelerator import Vendor
from fake_plugin.smi import programs, table
from fake_plugin.vendors.place import HostMount
from tests.unit.fake_plugin.smi.container import SHELLS
from tests.unit.fake_plugin.smi.hardware import H100, whole

#: As a file is called while it is written.
ABANDONED = ".gpulab-x.tmp"


def test_there_is_a_shell_of_every_kind() -> None:
    """Debian's own shells are tried, and busybox where it is: .ci/run installs it."""
    assert {"dash", "bash"} <= {Path(shell[0]).name for shell in SHELLS}


def test_install_writes_three_programs_that_all_may_run(tmp_path: Path) -> None:
    """The programs and the table's folder are there before a container asks for a mount."""
    programs.install(tmp_path)
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "bin").iterdir()}
    assert found == {"nvidia-smi": 0o755, "rocm-smi": 0o755, "npu-smi": 0o755}
    assert programs.table_folder(tmp_path).is_dir()


def test_install_again_replaces_a_program(tmp_path: Path) -> None:
    """A newer plugin brings newer programs; one that runs keeps its file."""
    programs.install(tmp_path)
    program = tmp_path / "bin" / "nvidia-smi"
    before = program.stat().st_ino
    program.write_text("rubbish")
    programs.install(tmp_path)
    assert program.read_text() == programs.text("nvidia-smi")
    assert program.stat().st_ino != before


@pytest.mark.parametrize(
    ("vendor", "program"), [("nvidia", "nvidia-smi"), ("amd", "rocm-smi"), ("ascend", "npu-smi")]
)
def test_container_gets_its_vendors_tool_and_the_table(vendor: Vendor, program: str) -> None:
    """Allocate mounts one program and the folder of the table."""
    assert programs.mounts(vendor, "/var/lib/gpulab") == (
        HostMount(f"/var/lib/gpulab/bin/{program}", f"/usr/bin/{program}"),
        HostMount("/var/lib/gpulab/units", "/run/gpu-lab"),
    )


@pytest.mark.parametrize("program", programs.PROGRAMS.values())
def test_program_reads_the_table_where_it_is_mounted(program: str) -> None:
    """A program has no way to be told of another table."""
    assert "\nunits='/run/gpu-lab/units'\n" in programs.text(program)


@pytest.mark.parametrize("program", programs.PROGRAMS.values())
def test_program_needs_no_files_but_the_table(program: str) -> None:
    """A root with a shell alone has no /dev/null to write to, and no /tmp for a here-document."""
    lines = [line for line in programs.text(program).splitlines() if not line.startswith("#")]
    assert [line for line in lines if "/dev/" in line or "<<" in line] == []


def test_installed_program_runs_by_its_first_line(tmp_path: Path) -> None:
    """The program is one file that the kernel can start."""
    programs.install(tmp_path)
    table.write(programs.table_folder(tmp_path), [whole(H100)])
    program = tmp_path / "bin" / "nvidia-smi"
    units = programs.table_folder(tmp_path) / table.NAME
    program.write_text(programs.text("nvidia-smi", str(units)))
    ran = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, env={})
    assert ran.stdout.splitlines()[0] == "NVIDIA-SMI version  : 570.133.20"


def test_a_path_with_quotes_is_one_word_to_the_shell(tmp_path: Path) -> None:
    """Whoever runs the plugin by hand calls a folder as they like."""
    folder = tmp_path / 'it\'s "mine"'
    folder.mkdir()
    table.write(folder, [whole(H100)])
    program = tmp_path / "nvidia-smi"
    program.write_text(programs.text("nvidia-smi", str(folder / table.NAME)))
    ran = subprocess.run(["sh", program, "--version"], capture_output=True, text=True, check=True)
    assert (ran.stdout.splitlines()[0], ran.stderr) == ("NVIDIA-SMI version  : 570.133.20", "")


def test_what_a_killed_plugin_left_half_written_goes(tmp_path: Path) -> None:
    """Beside the programs and beside the table, and nothing else."""
    programs.install(tmp_path)
    for folder in (tmp_path / "bin", programs.table_folder(tmp_path)):
        (folder / ABANDONED).touch()
        os.utime(folder / ABANDONED, (0, 0))
        (folder / "other").touch()
    programs.install(tmp_path)
    assert not [*tmp_path.rglob(ABANDONED)]
    assert len([*tmp_path.rglob("other")]) == 2
