"""Specs that hypothesis draws: every field, from the values that its rule allows."""

import string

from hypothesis import strategies as st

from fake_plugin.cdi.spec import (
    Device,
    DeviceNode,
    Edits,
    Hook,
    IntelRdt,
    Mount,
    NetDevice,
    Spec,
)

_LETTERS = string.ascii_letters
_BOTH = string.ascii_letters + string.digits

vendors = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,20}[A-Za-z0-9]", fullmatch=True)
device_names = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_.:-]{0,20}[A-Za-z0-9])?", fullmatch=True)
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_filled = _texts.filter(bool)
_variables = st.builds("{}={}".format, st.text(_LETTERS + "_", min_size=1, max_size=8), _texts)
_unsigned = st.none() | st.integers(0, 2**32 - 1)
_numbers = st.none() | st.integers(0, 2**63 - 1)
_keys = st.builds(
    "{}{}".format, st.sampled_from(["", "example.com/", "gpu-lab/"]), st.text(_BOTH, min_size=1)
).filter(lambda key: len(key) < 63)
_annotations = st.dictionaries(_keys, _texts, max_size=2)

_nodes = st.builds(
    DeviceNode,
    path=_filled,
    host_path=_texts,
    type=st.sampled_from(["", "b", "c", "u", "p"]),
    major=_numbers,
    minor=_numbers,
    file_mode=_unsigned,
    permissions=st.text("rwm", max_size=3),
    uid=_unsigned,
    gid=_unsigned,
)
_some_texts = st.lists(_texts, max_size=2).map(tuple)
_env = st.lists(_variables, max_size=2).map(tuple)
_mounts = st.builds(
    Mount, host_path=_filled, container_path=_filled, options=_some_texts, type=_texts
)
_hooks = st.builds(
    Hook,
    hook_name=st.sampled_from(["prestart", "createRuntime", "createContainer", "poststop"]),
    path=_filled,
    args=_some_texts,
    env=_env,
    timeout=st.none() | st.integers(1, 600),
)
_nets = st.lists(
    st.builds(NetDevice, _filled, _filled),
    max_size=2,
    unique_by=(lambda net: net.host_interface_name, lambda net: net.name),
).map(tuple)
_shares = st.builds(
    IntelRdt,
    clos_id=st.text(_BOTH, max_size=5),
    l3_cache_schema=_texts,
    mem_bw_schema=_texts,
    schemata=_some_texts,
    enable_monitoring=st.booleans(),
)


def _edits(env: st.SearchStrategy[tuple[str, ...]]) -> st.SearchStrategy[Edits]:
    return st.builds(
        Edits,
        env=env,
        device_nodes=st.lists(_nodes, max_size=2).map(tuple),
        mounts=st.lists(_mounts, max_size=2).map(tuple),
        hooks=st.lists(_hooks, max_size=1).map(tuple),
        net_devices=_nets,
        intel_rdt=st.none() | _shares,
        additional_gids=st.lists(st.integers(0, 2**32 - 1), max_size=2).map(tuple),
    )


common_edits = _edits(_env)
#: Never empty: each device sets a variable at least.
device_edits = _edits(st.lists(_variables, min_size=1, max_size=2).map(tuple))
kinds = st.builds("{}/{}".format, vendors, vendors)
specs = st.builds(
    Spec,
    kind=kinds,
    devices=st.lists(
        st.builds(Device, device_names, device_edits, _annotations),
        min_size=1,
        max_size=3,
        unique_by=lambda device: device.name,
    ).map(tuple),
    edits=common_edits,
    annotations=_annotations,
)
