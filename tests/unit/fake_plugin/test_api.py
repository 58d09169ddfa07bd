"""The generated code is what the committed descriptions give."""

from pathlib import Path

import pytest
from grpc_tools import protoc

from fake_plugin.api import deviceplugin_pb2_grpc, podresources_pb2_grpc

ROOT = Path(__file__).parents[3]
DEVICE_PLUGIN = "fake_plugin/api/deviceplugin.proto"
POD_RESOURCES = "fake_plugin/api/podresources.proto"


@pytest.mark.parametrize("proto", [DEVICE_PLUGIN, POD_RESOURCES])
@pytest.mark.parametrize("name", ["_pb2.py", "_pb2.pyi", "_pb2_grpc.py"])
def test_generating_again_changes_nothing(proto: str, name: str, tmp_path: Path) -> None:
    """The description and the code that was generated from it are committed together."""
    options = [f"--{kind}_out={tmp_path}" for kind in ("python", "pyi", "grpc_python")]
    assert protoc.main(["protoc", f"-I{ROOT}", *options, proto]) == 0

    file = proto.replace(".proto", name)
    assert (tmp_path / file).read_text() == (ROOT / file).read_text()


@pytest.mark.parametrize(
    ("proto", "version"),
    [
        (DEVICE_PLUGIN, deviceplugin_pb2_grpc.GRPC_GENERATED_VERSION),
        (POD_RESOURCES, podresources_pb2_grpc.GRPC_GENERATED_VERSION),
    ],
)
def test_the_description_names_its_generator(proto: str, version: str) -> None:
    """Whoever changes a description is told the version that made the code."""
    assert f"grpcio-tools {version}" in (ROOT / proto).read_text()
