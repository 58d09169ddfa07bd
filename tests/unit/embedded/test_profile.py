"""What differs between versions, row by row."""

import pytest

from lab.embedded.profile import PROFILES


def test_versions_are_in_order() -> None:
    """They are those that the lab has node images for."""
    assert list(PROFILES) == ["1.34", "1.35", "1.36", "1.37"]
    assert [profile.version for profile in PROFILES.values()] == list(PROFILES)


@pytest.mark.parametrize(
    ("switch", "on"),
    [
        ("shows_device_health", [False, False, True, True]),
        ("allocates_extended_resources_by_claim", [False, False, True, True]),
        ("keeps_plugins_apart", [False, False, False, True]),
        ("looks_at_every_container_id", [False, True, True, True]),
        ("hints_at_nodes_with_devices_only", [False, False, True, True]),
        ("finds_pods_by_resource", [False, False, False, True]),
        ("post_filter_prefix", [*["no new claims to deallocate, "] * 3, ""]),
    ],
)
def test_a_switch_changes_with_its_version(switch: str, on: list[object]) -> None:
    """As the table of Kubernetes' feature gates and changes has it."""
    assert [getattr(profile, switch) for profile in PROFILES.values()] == on
