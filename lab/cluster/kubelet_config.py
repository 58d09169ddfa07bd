"""The configuration of a node's kubelet, which it reads when it starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import yaml
from pydantic import JsonValue

from lab.cluster.access import KUBELET_DIR, NodeAccess
from lab.core.errors import NotReady

#: Where kubeadm has the kubelet look (cmd/kubeadm/app/constants: KubeletConfigurationFileName).
FILE: Final = f"{KUBELET_DIR}/config.yaml"
#: A kubelet that starts meanwhile finds the old file or the new one, and no half of one.
_REPLACE: Final = 'printf %s "$1" > "$0.new" && mv "$0.new" "$0"'


@dataclass(frozen=True)
class KubeletConfig:
    """The file on one node. A kubelet that runs does not look at it again."""

    access: NodeAccess
    node: str

    def read(self) -> str:
        """Return its text; raises `NotReady` for a node that kubeadm did not set up."""
        found = self.access.run(self.node, ("cat", FILE), check=False)
        if not found.ok:
            raise NotReady(
                "the kubelet's configuration cannot be read",
                where=f"{self.node}: {FILE}",
                seen=found.tail(),
                remedy="use a cluster that kubeadm has set up, as kind's are",
            )
        return found.stdout

    def write(self, text: str) -> None:
        """Replace it."""
        self.access.run(self.node, ("sh", "-c", _REPLACE, FILE, text))


def with_settings(text: str, settings: Mapping[str, JsonValue]) -> str:
    """Return a configuration in which these fields of KubeletConfiguration have these values."""
    return yaml.safe_dump({**yaml.safe_load(text), **settings}, sort_keys=False)
