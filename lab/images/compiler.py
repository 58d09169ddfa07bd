"""Compiles programs from their Go modules, each the same way."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.core.errors import NotReady
from lab.host.processes import ProcessFailed
from lab.images.store import Making, Part, ran_out_of_space
from lab.images.toolchain import Go


@dataclass(frozen=True)
class Compiler:
    """Runs Go the same way for every program: nothing of C, nothing of this machine's paths."""

    go: Callable[[], Go]

    def run(self, making: Making, *arguments: str, cwd: Path | None = None) -> str:
        """Run a go command and return what it printed. Raises `NotReady` where it fails."""
        go = self.go()
        environment = {
            "CGO_ENABLED": "0",
            "GOBIN": str(making.folder),
            "GOFLAGS": "-buildvcs=false",
            "GOTMPDIR": str(making.scratch),
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
        }
        compiled: list[str] = []

        def on_line(line: str) -> None:
            # With -v, Go names each package that it compiles.
            compiled.append(line)
            making.step.update(f"{len(compiled)} packages compiled")

        command = (str(go.program), *arguments)
        where = cwd or making.scratch
        try:
            finished = making.processes.run(command, cwd=where, env=environment, on_line=on_line)
        except ProcessFailed as error:
            if ran_out_of_space(error):
                raise
            raise NotReady(
                f"Go {go.version} could not do what the build asks of it",
                where=error.where,
                seen=error.seen,
                remedy="a Go module proxy has to answer (`go env GOPROXY`); what was fetched and "
                "compiled so far is kept",
            ) from error
        return finished.stdout


def linked(flags: str = "") -> str:
    """Return the flag that links a program without symbols: a third less to copy into nodes."""
    return f"-ldflags=-s -w {flags}".rstrip()


def module_part(
    compiler: Compiler, name: str, version: str, packages: list[str], *flags: str
) -> Part:
    """Return the part whose product holds programs of one module, by the names of their folders.

    The module's own go.mod pins what they are compiled with.
    """
    command = ("install", "-v", "-trimpath", *flags, *(f"{each}@{version}" for each in packages))

    def make(making: Making) -> None:
        compiler.run(making, *command)

    title = f"Compile {name} {version}"
    return Part(name=name, title=title, version=version, inputs=command, make=make)
