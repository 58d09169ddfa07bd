"""How long more than one layer waits for the same."""

from typing import Final

#: For the devices of a fleet to become allocatable.
DEVICES_SECONDS: Final = 180
