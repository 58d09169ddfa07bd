"""What the status of the node says of devices, which is behind what the kubelet knows.

Only at a tick, every ten seconds by default, is it made anew (nodestatus/setters.go:MachineInfo);
the scheduler reads this and nothing else. It outlives the kubelet. A resource once there stays,
with 0 in the end; only a patch by hand takes it away.
"""

from lab.embedded.kubelet.ledger import Report
from lab.embedded.quantity import decimal_si


class NodeStatus:
    """`capacity` and `allocatable` of extended resources, for anyone to patch."""

    def __init__(self) -> None:
        self.capacity: dict[str, int] = {}
        self.allocatable: dict[str, int] = {}

    def update(self, report: Report) -> None:
        """Take over what the device manager reports at a tick."""
        self.capacity.update(report.figures.capacity)
        self.capacity.update(dict.fromkeys(report.expired, 0))
        # What is patched into the capacity is all allocatable: the kubelet knows of no use of it.
        self.allocatable = {**self.capacity, **report.figures.allocatable}

    def quantities(self) -> dict[str, dict[str, str]]:
        """Return both as the node's JSON has them."""
        return {
            name: {resource: decimal_si(number) for resource, number in numbers.items()}
            for name, numbers in (("capacity", self.capacity), ("allocatable", self.allocatable))
        }
