"""The Docker engine, as the `docker` program speaks of it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core.errors import NotReady, TimedOut
from lab.host.docker import ANSWER_SECONDS, INFO_SECONDS, Container, Docker, Engine, Image
from lab.host.processes import Processes, ProcessFailed

Put = Callable[[str, str], Path]

#: What docker 28 prints on stdout where no engine answers, beside the reason on stderr.
EMPTY_INFO = json.dumps({"ServerVersion": "", "CgroupDriver": "", "DockerRootDir": ""})
INFO = {
    "ServerVersion": "28.3.2",
    "Name": "laptop",
    "MemTotal": 8589934592,
    "CgroupVersion": "2",
    "DockerRootDir": "/data/docker",
}
CONTAINER = {
    "Id": "c0ffee",
    "Name": "/gpu-lab-worker",
    "State": {"Running": True},
    "Config": {"Labels": {"io.x-k8s.kind.role": "worker"}},
    "Mounts": [{"Type": "bind", "Source": "/state/owner", "Destination": "/etc/gpu-lab"}],
}
NO_SUCH_HOST = "error during connect: dial tcp: lookup away on 10.0.0.1:53: no such host"


@pytest.fixture
def docker() -> Docker:
    """Return the engine behind the `docker` of the test."""
    return Docker(Processes())


def prints(*answers: tuple[str, object]) -> str:
    """Return a `docker` that answers each of its commands with this JSON."""
    cases = "".join(f"'{command}') echo '{json.dumps(found)}';;\n" for command, found in answers)
    return f'case "$*" in\n{cases}*) echo "unexpected: $*" >&2; exit 64;;\nesac'


def test_engine_tells_of_itself(put_on_path: Put, docker: Docker) -> None:
    """All that the lab decides by comes from one answer."""
    put_on_path("docker", prints(("info --format {{json .}}", INFO)))
    assert docker.engine() == Engine(
        version="28.3.2",
        host="laptop",
        memory=8589934592,
        cgroup_version=2,
        data_root=Path("/data/docker"),
    )


def test_old_engine_says_nothing_of_cgroups(put_on_path: Put, docker: Docker) -> None:
    """An engine from before cgroup v2 was known has v1."""
    put_on_path("docker", prints(("info --format {{json .}}", {"ServerVersion": "19.03.1"})))
    assert docker.engine().cgroup_version == 1


@pytest.mark.usefixtures("put_on_path")
def test_missing_docker_is_named(docker: Docker) -> None:
    """No program is another matter than no engine."""
    with pytest.raises(NotReady) as raised:
        docker.engine()
    assert raised.value.render() == (
        "Docker is not installed: the program `docker` cannot be started\n"
        "  seen:  [Errno 2] No such file or directory: 'docker'\n"
        "  next:  install Docker Engine or Docker Desktop, then ask again\n"
        "         $ gpulab doctor"
    )


@pytest.mark.parametrize(
    ("script", "what", "seen"),
    [
        pytest.param(
            f"echo '{EMPTY_INFO}'; echo 'Cannot connect to unix:///nope.' >&2; exit 1",
            "no Docker engine answers",
            "Cannot connect to unix:///nope.",
            id="no engine, docker 28",
        ),
        pytest.param(
            """echo '{"ServerErrors": ["Cannot connect.", "Is it running?"]}'; exit 1""",
            "no Docker engine answers",
            "Cannot connect.\nIs it running?",
            id="no engine, docker 20",
        ),
        pytest.param(
            """echo '{"ServerErrors": ["Got permission denied while connecting"]}'""",
            "this user may not talk to the Docker engine",
            "Got permission denied while connecting",
            id="no permission, exit code 0",
        ),
        pytest.param(
            "echo 'dial unix /var/run/docker.sock: connect: permission denied' >&2; exit 1",
            "this user may not talk to the Docker engine",
            "dial unix /var/run/docker.sock: connect: permission denied",
            id="no permission, docker 28",
        ),
        pytest.param("echo []", "no Docker engine answers", "[]", id="another program"),
        pytest.param("", "no Docker engine answers", "(it printed nothing)", id="silence"),
    ],
)
def test_engine_that_does_not_answer_gives_its_reason(
    put_on_path: Put, docker: Docker, script: str, what: str, seen: str
) -> None:
    """The reason is quoted in docker's words, wherever its version puts them."""
    put_on_path("docker", script)
    with pytest.raises(NotReady) as raised:
        docker.engine()
    assert (raised.value.what, raised.value.seen) == (what, seen)
    assert raised.value.where == "docker info"
    assert raised.value.commands[-1] == "gpulab doctor"


@pytest.mark.parametrize(
    ("ask", "command", "limit"),
    [
        (Docker.engine, "docker info --format '{{json .}}'", "0.1"),
        (lambda docker: docker.image("x"), "docker image inspect x", "0.2"),
        (lambda docker: docker.container("x"), "docker container inspect x", "0.2"),
        (
            lambda docker: docker.cluster_containers("x"),
            "docker ps -aq --filter label=io.x-k8s.kind.cluster=x",
            "0.2",
        ),
    ],
)
def test_engine_that_hangs_does_not_hang_the_lab(
    put_on_path: Put, ask: Callable[[Docker], object], command: str, limit: str
) -> None:
    """Every question has an end, and the error says what was asked and what to do."""
    put_on_path("docker", "exec /bin/sleep 30")
    with pytest.raises(TimedOut) as raised:
        ask(Docker(Processes(), info_seconds=0.1, answer_seconds=0.2))
    assert raised.value.render() == (
        "the Docker engine does not answer\n"
        f"  where: {command}\n"
        f"  seen:  no answer within {limit} s\n"
        "  next:  see whether `docker ps` answers; if not, restart Docker Desktop or the Docker "
        "service\n"
        "         $ docker ps\n"
        "         $ sudo systemctl restart docker"
    )


def test_questions_have_limits_by_themselves(docker: Docker) -> None:
    """Long enough for a busy machine, short enough for who waits."""
    assert (docker.info_seconds, docker.answer_seconds) == (INFO_SECONDS, ANSWER_SECONDS)
    assert (INFO_SECONDS, ANSWER_SECONDS) == (20, 30)


def test_listing_that_fails_is_told(put_on_path: Put, docker: Docker) -> None:
    """A lab is not gone because its containers could not be listed."""
    put_on_path("docker", "echo 'i/o error' >&2; exit 1")
    with pytest.raises(ProcessFailed) as raised:
        docker.cluster_containers("gpu-lab")
    assert raised.value.seen == "i/o error"


@pytest.mark.parametrize("config", [{"Labels": {"a": "b"}}, {"Labels": None}, {}, None])
def test_image_has_size_and_labels(
    put_on_path: Put, docker: Docker, config: dict[str, dict[str, str]] | None
) -> None:
    """An image without labels, or without a configuration, has none."""
    found = {"Id": "sha256:1", "Size": 1150000000, "Config": config}
    put_on_path("docker", prints(("image inspect gpu-lab/node:1", [found])))
    labels = {"a": "b"} if config and config.get("Labels") else {}
    assert docker.image("gpu-lab/node:1") == Image("sha256:1", 1150000000, labels)


@pytest.mark.parametrize("says", ["Error: No such image: x", "daemon: no such image: x: No such"])
def test_missing_image_is_none(put_on_path: Put, docker: Docker, says: str) -> None:
    """That there is none is an answer, however the version words it."""
    put_on_path("docker", f"echo []; echo '{says}' >&2; exit 1")
    assert docker.image("x") is None


def test_missing_container_is_none(put_on_path: Put, docker: Docker) -> None:
    """That there is none is an answer."""
    put_on_path("docker", "echo []; echo 'Error: No such container: x' >&2; exit 1")
    assert docker.container("x") is None


def test_engine_that_is_away_is_not_a_missing_image(put_on_path: Put, docker: Docker) -> None:
    """A host name that does not resolve is "no such host", which says nothing of images."""
    put_on_path("docker", f"echo '{NO_SUCH_HOST}' >&2; exit 1")
    with pytest.raises(NotReady, match="no Docker engine answers") as raised:
        docker.image("x")
    assert raised.value.seen == NO_SUCH_HOST


def test_other_failure_of_an_inspection_is_told(put_on_path: Put, docker: Docker) -> None:
    """Where the engine answers, the failure is its own."""
    put_on_path(
        "docker",
        f"[ $1 = info ] && echo '{json.dumps(INFO)}' && exit\necho 'i/o error' >&2; exit 1",
    )
    with pytest.raises(ProcessFailed, match="docker exited with 1") as raised:
        docker.image("x")
    assert raised.value.seen == "i/o error"


def test_container_tells_where_its_mounts_end(put_on_path: Put, docker: Docker) -> None:
    """The mark of ownership is a mount."""
    put_on_path("docker", prints(("container inspect gpu-lab-worker", [CONTAINER])))
    assert docker.container("gpu-lab-worker") == Container(
        name="gpu-lab-worker",
        id="c0ffee",
        running=True,
        labels={"io.x-k8s.kind.role": "worker"},
        mounts={"/etc/gpu-lab": "/state/owner"},
    )


def test_containers_of_a_cluster_come_by_name(put_on_path: Put, docker: Docker) -> None:
    """Stopped ones too; one that goes away between listing and looking is left out."""
    plane = {**CONTAINER, "Name": "/gpu-lab-control-plane", "State": {"Running": False}}
    put_on_path(
        "docker",
        f"""case "$*" in
        "ps -aq --filter label=io.x-k8s.kind.cluster=gpu-lab") echo 1; echo 2; echo 3;;
        *1) echo '{json.dumps([CONTAINER])}';;
        *2) echo '{json.dumps([plane])}';;
        *3) echo 'Error: No such container: 3' >&2; exit 1;;
        esac""",
    )
    found = docker.cluster_containers("gpu-lab")
    assert [(each.name, each.running) for each in found] == [
        ("gpu-lab-control-plane", False),
        ("gpu-lab-worker", True),
    ]


@pytest.mark.parametrize(
    ("stdin", "printed"),
    [(None, "exec gpu-lab-worker ls -l\n"), (b"in", "exec -i gpu-lab-worker ls -l\n")],
)
def test_command_in_a_container_reads_stdin_only_when_given(
    put_on_path: Put, docker: Docker, stdin: bytes | None, printed: str
) -> None:
    """Without `-i` docker would drop what the command is to read."""
    put_on_path("docker", 'echo "$@"')
    assert docker.execute("gpu-lab-worker", ["ls", "-l"], stdin=stdin).stdout == printed
