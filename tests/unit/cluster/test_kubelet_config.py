"""A kubelet's configuration on a node: read, changed and put back."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from lab.cluster.kubelet_config import FILE, KubeletConfig, with_settings
from lab.core.errors import NotReady
from lab.host.processes import Finished

if TYPE_CHECKING:
    from lab.cluster.access import NodeAccess

TEXT = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
nodeStatusUpdateFrequency: 1s
"""


@dataclass(frozen=True)
class Here:
    """A node whose commands run on this machine, and whose configuration is in a folder."""

    file: Path

    def run(self, node: str, command: Sequence[str], *, check: bool = True) -> Finished:
        """Run a command."""
        del node
        here = [str(self.file) if each == FILE else each for each in command]
        ended = subprocess.run(here, capture_output=True, text=True, check=check)
        return Finished(tuple(here), ended.returncode, ended.stdout, ended.stderr, 0.0)


@pytest.fixture
def node(tmp_path: Path) -> KubeletConfig:
    """Return the configuration of a node, which has none yet."""
    return KubeletConfig(cast("NodeAccess", Here(tmp_path / "config.yaml")), "w")


def test_a_setting_is_added_or_replaced() -> None:
    """All others stay, in their order."""
    changed = with_settings(
        TEXT, {"topologyManagerPolicy": "restricted", "nodeStatusUpdateFrequency": "2s"}
    )
    assert changed == TEXT.replace("1s", "2s") + "topologyManagerPolicy: restricted\n"


def test_what_is_written_is_read(node: KubeletConfig, tmp_path: Path) -> None:
    """As it is, with quotes, dollars and percents; nothing is left beside it."""
    for text in (TEXT, TEXT + "# it's $HOME, 100 %s\n"):
        node.write(text)
        assert node.read() == text
    assert [each.name for each in tmp_path.iterdir()] == ["config.yaml"]


def test_a_node_without_the_file_is_told(node: KubeletConfig, tmp_path: Path) -> None:
    """Not everybody sets nodes up with kubeadm."""
    with pytest.raises(NotReady) as raised:
        node.read()
    assert raised.value.render() == (
        "the kubelet's configuration cannot be read\n"
        f"  where: w: {FILE}\n"
        f"  seen:  cat: {tmp_path}/config.yaml: No such file or directory\n"
        "  next:  use a cluster that kubeadm has set up, as kind's are"
    )
