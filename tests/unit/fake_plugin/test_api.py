"""The generated code is what the committed description gives."""

from pathlib import Path

import pytest
from grpc_tools import protoc

from fake_plugin.api import deviceplugin_pb2_grpc

ROOT = Path(__file__).parents[3]
PROTO = "fake_plugin/api/deviceplugin.proto"


@pytest.mark.parametrize("name", ["_pb2.py", "_pb2.pyi", "_pb2_grpc.py"])
def test_generating_again_changes_nothing(name: str, tmp_path: Path) -> None:
    """The description and the code that was generated from it are committed together."""
    options = [f"--{kind}_out={tmp_path}" for kind in ("python", "pyi", "grpc_python")]
    assert protoc.main(["protoc", f"-I{ROOT}", *options, PROTO]) == 0

    file = PROTO.replace(".proto", name)
    assert (tmp_path / file).read_text() == (ROOT / file).read_text()


def test_the_description_names_its_generator() -> None:
    """Whoever changes the description is told the version that made the code."""
    version = deviceplugin_pb2_grpc.GRPC_GENERATED_VERSION
    assert f"grpcio-tools {version}" in (ROOT / PROTO).read_text()
