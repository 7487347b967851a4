"""Put what a recipe needs into .venv: on first use, and again when the pins change.

    python -m talk.install light    what replay, compare and list need
    python -m talk.install full     that, and torch and Triton for live demos
    python -m talk.install dev      that, and the test tools
    python -m talk.install slides   light, and matplotlib, which draws the charts
    python -m talk.install present  full, slides, and the server of `just present`
    python -m talk.install pdf      that, and Playwright, which prints the deck
    python -m talk.install notebook light, and nbformat, which writes notebooks

Every recipe runs this first, so heavy imports wait until there is work, and it parses on
Python 3.9 (macOS's own), to say there that a newer one is needed.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

TYPE_CHECKING = False  # importing typing takes as long as the rest of this file
if TYPE_CHECKING:
    from collections.abc import Callable

    Runner = Callable[[list[str]], tuple[int, str]]  # pip's arguments → exit code, stderr

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "pyproject.toml"
CONSTRAINTS = ROOT / "constraints.txt"

# The extras of pyproject.toml in each set; every set holds the light one.
EXTRAS = {
    "light": (),
    "full": ("live",),
    "dev": ("live", "slides", "present", "pdf", "notebook", "dev"),
    "present": ("live", "slides", "present"),
    "slides": ("slides",),
    "pdf": ("slides", "pdf"),
    "notebook": ("notebook",),
}
ANYWHERE = ("slides", "pdf", "notebook")
"""Sets without torch and Triton beyond light: the same on every system."""


LARGE = (
    "torch and Triton are about 3 GB to download and 6 GB on disk, unless already there;"
    " `just replay 5` needs none of it."
)
PURPOSE = {
    "light": "Setting up .venv for replay: about 11 MB to download, a few seconds.",
    "slides": "Setting up .venv to draw slides: about 53 MB to download, a few seconds.",
    "pdf": "Setting up .venv to print the deck: about 107 MB to download; the browser is yours.",
    "notebook": "Setting up .venv to write notebooks: about 13 MB to download, a few seconds.",
    "full": f"Setting up .venv for live demos. {LARGE}",
    "dev": f"Setting up .venv for the tests. {LARGE}",
    "present": f"Setting up .venv for slides that run demos. {LARGE}",
}
LINUX_ONLY = (
    "Setting up .venv without torch and Triton, which this workshop runs on Linux only:"
    " here `just demo` replays the recordings."
)

# What pip says, and what to do about it. The first that fits wins.
REMEDIES = {
    "No space left on device": "the disk is full. Free space for .venv and the temporary folder",
    "Permission denied": "no permission to write. Make .venv and all in it yours",
    "connection broken by": "the package index cannot be reached. Check the network or the proxy",
    "Read timed out": "the download stalled. Check the network",
    "No matching distribution found": "a package has no build for this Python and system."
    " Set .venv up with a Python from 3.10 to 3.14",
}


class Trouble(Exception):
    """Set-up cannot go on; the message says what to do next."""


def ensure(wanted: str, venv: Path, run: Runner, platform: str = sys.platform) -> None:
    """Bring .venv up to the wanted set. Nothing to do is the usual case."""
    if wanted == "full" and platform != "linux":
        wanted = "light"
    stamp = venv / ".memory-wall"
    pins = fingerprint(PROJECT, CONSTRAINTS)
    have = stamped(stamp, pins)
    if held(wanted, have):
        return
    check_python()
    say(PURPOSE[wanted] if platform == "linux" or wanted in ANYWHERE else LINUX_ONLY)
    if not have:
        # A stamp of other pins would hold again after an interrupted set-up and `git checkout`.
        stamp.unlink(missing_ok=True)
    # Light comes first, with its own stamp: `just replay` then runs while torch is on its way.
    for name in dict.fromkeys(("light", wanted)):
        if not held(name, have):
            install(name, run)
            have = (*(known for known in have if not held(known, (name,))), name)
            write(stamp, f"{'+'.join(have)} {pins}")


def fingerprint(*files: Path) -> str:
    """What the installed packages follow from: the pins, and the Python they were chosen for."""
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def stamped(stamp: Path, pins: str) -> tuple[str, ...]:
    """The sets that were installed with these very pins."""
    try:
        names, _, installed = stamp.read_text(encoding="utf-8", errors="replace").partition(" ")
    except FileNotFoundError:
        return ()
    return tuple(names.split("+")) if installed == pins else ()


def held(wanted: str, have: tuple[str, ...]) -> bool:
    """Whether sets that are installed hold all of another."""
    extras = {extra for name in have for extra in EXTRAS.get(name, ())}
    return bool(have) and extras.issuperset(EXTRAS[wanted])


def check_python() -> None:
    """Name what keeps pip from working here, before it fails in more words."""
    from importlib.util import find_spec

    if sys.version_info < (3, 10):  # noqa: UP036 - a .venv can be made with an older one
        raise Trouble(
            "Python {}.{} is too old: delete .venv and make it with Python 3.10 to 3.14,"
            " for example `python3.12 -m venv .venv`.".format(*sys.version_info)
        )
    if sys.prefix == sys.base_prefix:
        raise Trouble(
            "this Python belongs to the system. Make one for this workshop:"
            " `python3 -m venv .venv`, then use .venv/bin/python."
        )
    if find_spec("pip") is None:
        raise Trouble(f"this environment has no pip. Add it: `{sys.executable} -m ensurepip`.")


def install(name: str, run: Runner) -> None:
    code, said = run(
        ["install", "--no-input", "--constraint", str(CONSTRAINTS), *requirements(name)]
    )
    if code:
        advice = remedy(said)
        if not advice:
            sys.stderr.write(said)
            advice = f"pip stopped with exit code {code}. Read what it says above"
        meanwhile = "" if name == "light" else " Meanwhile `just replay 5` works."
        raise Trouble(f"{advice}, then run the same command again.{meanwhile}")


def requirements(name: str) -> list[str]:
    """The project's own lists, so that pyproject.toml stays the only place that names packages."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        from pip._vendor import tomli as tomllib

    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(line for extra in EXTRAS[name] for line in extras[extra])]


def remedy(said: str) -> str:
    return next((advice for symptom, advice in REMEDIES.items() if symptom in said), "")


def pip(arguments: list[str]) -> tuple[int, str]:
    """Run pip with its progress on screen. Of stderr only warnings: the rest may be a traceback."""
    import subprocess

    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    said = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stderr or ():
            said.append(line)
            if line.startswith("WARNING"):
                sys.stderr.write(line)
    return process.returncode, "".join(said)


def write(stamp: Path, text: str) -> None:
    """All or nothing: a full disk must not leave half a stamp."""
    new = stamp.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(stamp)


def say(text: str) -> None:
    print(text, flush=True)  # before pip's first line, also in a pipe


def main(arguments: list[str], run: Runner = pip) -> int:
    if len(arguments) != 1 or arguments[0] not in EXTRAS:
        print(f"usage: python -m talk.install {'|'.join(EXTRAS)}", file=sys.stderr)
        return 2
    try:
        ensure(arguments[0], Path(sys.prefix), run)
    except KeyboardInterrupt:
        print("\nSet-up stopped; the same command starts it again.", file=sys.stderr)
        return 130
    except Trouble as error:
        return failed(str(error))
    except OSError as error:
        return failed(f"{error}: {remedy(str(error)) or 'repair that'}, then run it again.")
    return 0


def failed(text: str) -> int:
    print(f"Set-up failed: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
