"""Register is answered as a kubelet answers it: the order of its checks, and its words."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import DevicePluginOptions, Empty, RegisterRequest
from fake_plugin.api.deviceplugin_pb2_grpc import RegistrationStub
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.connection import target
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from tests.unit.embedded.conftest import StartKubelet, StartPlugin
from tests.unit.embedded.plugin import RESOURCE, healthy, refusal, register_with
from tests.unit.waiting import wait_until

DIAL_FAILED = "failed to dial device plugin: context deadline exceeded"


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    """Return a thread for a call that has to wait."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def dialling(kubelet: DeviceManager) -> bool:
    """Tell whether the kubelet waits for a plugin to connect."""
    return bool(kubelet.journal.open_calls())


def test_the_folder_has_what_a_kubelet_puts_there(kubelet: DeviceManager) -> None:
    """Its socket, and a file that says that this way of registering is an old one."""
    assert {path.name for path in kubelet.folder.iterdir()} == {"kubelet.sock", "DEPRECATION"}


def test_a_kubelet_may_be_without_that_file(start_kubelet: StartKubelet) -> None:
    """Then plugins of upstream's library register as all others do."""
    kubelet = start_kubelet(Settings(deprecation_file=False))
    assert [path.name for path in kubelet.folder.iterdir()] == ["kubelet.sock"]


def test_a_folder_that_is_missing_is_made(tmp_path: Path, clock: VirtualClock) -> None:
    """Its parents as well; its mode is the kubelet's."""
    kubelet = DeviceManager(tmp_path / "a" / "b", clock=clock)
    kubelet.start()
    assert kubelet.folder.stat().st_mode & 0o777 == 0o750
    kubelet.stop()


@pytest.mark.parametrize("version", ["", "v1beta2", "v1alpha", 'v"1\n'])
def test_another_version_is_refused(
    kubelet: DeviceManager, start_plugin: StartPlugin, version: str
) -> None:
    """It is looked at first, so the name may be as wrong."""
    quoted = version.replace('"', '\\"').replace("\n", "\\n")
    assert refusal(lambda: start_plugin().register("gpu", version=version)) == (
        f'requested API version "{quoted}" is not supported by kubelet. '
        'Supported version is ["v1beta1"]'
    )
    assert not kubelet.registrations


@pytest.mark.parametrize(
    "name",
    [
        "gpu",
        "",
        "hugepages-2Mi",
        "nvidia.com/",
        "/gpu",
        "NVIDIA.com/gpu",
        "a.kubernetes.io/gpu",
        "requests.nvidia.com/gpu",
        "nvidia.com/mig-1g.10gb+me",
        f"a.com/{'x' * 64}",
        f"{'x' * 245}/x",
        "a.com/-x",
        "a.com/b/c",
    ],
)
@pytest.mark.usefixtures("kubelet")
def test_a_wrong_name_is_refused(start_plugin: StartPlugin, name: str) -> None:
    """It is looked at before the plugin is dialled, so nobody has to listen."""
    words = refusal(lambda: start_plugin().register(name, endpoint="nobody.sock"))
    assert words == f'the ResourceName "{name}" is invalid'


@pytest.mark.parametrize(
    "name", ["nvidia.com/gpu_1.x", "huawei.com/Ascend910", f"a.com/{'x' * 63}", f"{'x' * 244}/x"]
)
def test_a_right_name_is_accepted(
    kubelet: DeviceManager, start_plugin: StartPlugin, name: str
) -> None:
    """Upper case, dots and underscores are right behind the slash."""
    start_plugin().register(name)
    assert [client.resource for client in kubelet.registrations] == [name]


@pytest.mark.parametrize("endpoint", ["nobody.sock", "", "../nobody.sock", "{listening}"])
@pytest.mark.usefixtures("kubelet")
def test_a_plugin_that_does_not_listen_is_waited_for(
    clock: VirtualClock,
    start_plugin: StartPlugin,
    aside: ThreadPoolExecutor,
    endpoint: str,
) -> None:
    """Ten seconds long, then the plugin is told; an empty name is that of the folder.

    A whole path is as good as none: it is put behind the folder.
    """
    plugin = start_plugin()
    given = endpoint.format(listening=plugin.path)
    words = aside.submit(refusal, lambda: plugin.register(endpoint=given))
    wait_until("a limit", lambda: 10 in clock.pending())
    clock.advance(9.9)
    assert not words.done()
    clock.advance(0.2)
    assert words.result(10) == DIAL_FAILED


def test_a_plugin_that_listens_late_is_found(
    kubelet: DeviceManager, start_plugin: StartPlugin, aside: ThreadPoolExecutor
) -> None:
    """Within the ten seconds it is not too late."""
    request = RegisterRequest(version="v1beta1", endpoint="late.sock", resource_name=RESOURCE)
    accepted: Future[None] = aside.submit(register_with, kubelet.socket, request)
    wait_until("the kubelet to dial", lambda: dialling(kubelet))
    start_plugin("late.sock")
    accepted.result(10)
    assert [client.resource for client in kubelet.registrations] == [RESOURCE]


@contextmanager
def registering(kubelet: DeviceManager, endpoint: str) -> Iterator["grpc.Future[Empty]"]:
    """Yield a Register that is on its way, for the body to cancel."""
    request = RegisterRequest(version="v1beta1", endpoint=endpoint, resource_name=RESOURCE)
    options = (("grpc.use_local_subchannel_pool", 1),)
    with grpc.insecure_channel(target(kubelet.socket), options=options) as channel:
        yield RegistrationStub(channel).Register.future(request)


def test_a_plugin_that_gives_up_ends_the_dialling(kubelet: DeviceManager) -> None:
    """The kubelet dials as long as its caller waits, whatever its own clock says."""
    with registering(kubelet, "nobody.sock") as call:
        wait_until("the kubelet to dial", lambda: dialling(kubelet))
        call.cancel()
    wait_until("the end of the call", lambda: not dialling(kubelet))
    (register,) = kubelet.journal.calls("Register")
    assert register.error == "failed to dial device plugin: context canceled"


def test_options_that_fail_end_the_registration(
    kubelet: DeviceManager, clock: VirtualClock, start_plugin: StartPlugin
) -> None:
    """The list is then never asked for, and the resource shows nowhere (upstream's first case)."""
    plugin = start_plugin()
    plugin.script.options = "no options today"
    assert refusal(plugin.register) == (
        "failed to get device plugin options: rpc error: code = Unknown desc = no options today"
    )
    clock.advance(11)
    names = [call.name for call in kubelet.journal.calls()]
    assert (names, kubelet.status.capacity) == (["Register", "GetDevicePluginOptions"], {})


def test_options_that_hang_are_given_up_with_the_call(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """They have no limit of their own but that of Register."""
    plugin = start_plugin()
    asked, answer = threading.Event(), threading.Event()

    def hang() -> None:
        asked.set()
        answer.wait()

    plugin.script.before_options = hang
    with registering(kubelet, plugin.path.name) as call:
        assert asked.wait(10)
        call.cancel()
    wait_until("the end of the call", lambda: not dialling(kubelet))
    answer.set()
    (options,) = kubelet.journal.calls("GetDevicePluginOptions")
    assert options.error == "rpc error: code = Canceled desc = context canceled"


def test_options_are_the_plugins_answer(kubelet: DeviceManager, start_plugin: StartPlugin) -> None:
    """Those in the request of Register are not read."""
    plugin = start_plugin()
    plugin.script.options = DevicePluginOptions(pre_start_required=True)
    request = RegisterRequest(
        version="v1beta1",
        endpoint=plugin.path.name,
        resource_name=RESOURCE,
        options=DevicePluginOptions(get_preferred_allocation_available=True),
    )
    register_with(kubelet.socket, request)
    assert kubelet.registrations[0].options == plugin.script.options


@pytest.mark.parametrize("endpoint", ["../{folder}/plugin.sock", "/plugin.sock", ".//plugin.sock"])
def test_a_path_is_put_behind_the_folder(
    kubelet: DeviceManager, start_plugin: StartPlugin, endpoint: str
) -> None:
    """Whatever it looks like, and wherever it leads (#138382); it is known by what comes of it."""
    plugin = start_plugin()
    plugin.register(endpoint=endpoint.format(folder=kubelet.folder.name))
    plugin.list(healthy("a"))
    wait_until("a device", lambda: kubelet.known.capacity == {RESOURCE: 1})
    assert [client.path for client in kubelet.registrations] == [plugin.path]


def test_every_call_is_in_the_journal(kubelet: DeviceManager, start_plugin: StartPlugin) -> None:
    """With the plugin that it went to, in the order in which they began."""
    start_plugin("one.sock").register("a.com/x")
    start_plugin("two.sock").register("b.com/x")
    wait_until("both lists", lambda: len(kubelet.journal.calls("ListAndWatch")) == 2)
    calls = [(call.name, call.socket) for call in kubelet.journal.calls(resource="b.com/x")]
    assert calls == [
        ("Register", "two.sock"),
        ("GetDevicePluginOptions", "two.sock"),
        ("ListAndWatch", "two.sock"),
    ]
    assert not kubelet.journal.open_calls()
