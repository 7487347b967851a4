"""Set-up installs once, again when the pins change, and never leaves a stamp it did not earn."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from talk import install
from talk.install import ROOT, Trouble, ensure, main


class Pip:
    """Stands in for pip: notes what was asked, and fails on request."""

    def __init__(self, code=0, said=""):
        self.code, self.said = code, said
        self.calls = []

    def __call__(self, arguments):
        self.calls.append(arguments)
        return self.code, self.said


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout's pins, free to be edited, and an empty environment beside them."""
    for name in ("PROJECT", "CONSTRAINTS"):
        copy = tmp_path / getattr(install, name).name
        copy.write_bytes(getattr(install, name).read_bytes())
        monkeypatch.setattr(install, name, copy)
    venv = tmp_path / ".venv"
    venv.mkdir()
    monkeypatch.setattr(sys, "prefix", str(venv))
    return tmp_path


@pytest.fixture
def venv(checkout):
    return checkout / ".venv"


def stamp(venv):
    file = venv / ".memory-wall"
    return file.read_text().split()[0] if file.exists() else None


def asked(arguments):
    """The packages named in a call of pip, without their versions."""
    return {word.split(">=")[0] for word in arguments if ">=" in word}


def test_light_needs_neither_torch_nor_triton(venv, capsys):
    pip = Pip()
    ensure("light", venv, pip, "linux")
    [call] = pip.calls
    assert asked(call) == {
        "rich",
        "jinja2",
        "pygments",
        "prompt_toolkit",
        "pyreveal",
        "plotille",
    }
    assert call[call.index("--constraint") + 1] == str(install.CONSTRAINTS)
    assert stamp(venv) == "light"
    assert "a few seconds" in capsys.readouterr().out


def test_a_matching_stamp_asks_pip_for_nothing_and_is_silent(venv, capsys):
    ensure("full", venv, Pip(), "linux")
    capsys.readouterr()
    pip = Pip()
    ensure("light", venv, pip, "linux")
    ensure("full", venv, pip, "linux")
    assert pip.calls == []
    assert capsys.readouterr().out == ""
    assert stamp(venv) == "full"


@pytest.mark.parametrize("wanted", ["full", "dev"])
def test_the_size_is_said_before_anything_is_installed(venv, capsys, wanted):
    heard = []

    def pip(arguments):
        heard.append(capsys.readouterr().out)
        return 0, ""

    ensure(wanted, venv, pip, "linux")
    assert "3 GB" in heard[0] and "just replay 5" in heard[0]


def test_full_stamps_light_first_so_that_replay_runs_meanwhile(venv):
    stamps = []

    def pip(arguments):
        stamps.append((asked(arguments) >= {"torch", "triton"}, stamp(venv)))
        return 0, ""

    ensure("full", venv, pip, "linux")
    assert stamps == [(False, None), (True, "light")]
    assert stamp(venv) == "full"


def test_playwright_comes_with_pdf_alone_and_beside_what_is_there(venv, capsys):
    pip = Pip()
    ensure("full", venv, pip, "linux")
    assert all("playwright" not in asked(call) for call in pip.calls)
    ensure("pdf", venv, pip, "linux")
    assert "playwright" in asked(pip.calls[-1]) and "torch" not in asked(pip.calls[-1])
    assert stamp(venv) == "full+pdf"
    assert "107 MB" in capsys.readouterr().out
    before = len(pip.calls)
    for wanted in ("light", "full", "pdf"):
        ensure(wanted, venv, pip, "linux")
    assert len(pip.calls) == before
    ensure("dev", venv, pip, "linux")
    assert stamp(venv) == "dev"
    ensure("pdf", venv, pip, "linux")
    assert len(pip.calls) == before + 1


@pytest.mark.parametrize("name", ["PROJECT", "CONSTRAINTS"])
def test_changed_pins_install_again(venv, name):
    ensure("full", venv, Pip(), "linux")
    file = getattr(install, name)
    file.write_text(file.read_text() + "\n# changed\n")
    pip = Pip()
    ensure("full", venv, pip, "linux")
    assert len(pip.calls) == 2
    assert stamp(venv) == "full"


def test_an_interrupted_change_of_pins_is_not_forgotten_when_they_change_back(venv):
    ensure("light", venv, Pip(), "linux")
    before = install.CONSTRAINTS.read_text()
    install.CONSTRAINTS.write_text("rich==14.0.0\n")
    with pytest.raises(Trouble):
        ensure("light", venv, Pip(1), "linux")
    install.CONSTRAINTS.write_text(before)
    pip = Pip()
    ensure("light", venv, pip, "linux")
    assert len(pip.calls) == 1


@pytest.mark.parametrize("text", [b"", b"light", b"full of \xff\xfe", b"dev "])
def test_a_torn_stamp_counts_for_nothing(venv, text):
    (venv / ".memory-wall").write_bytes(text)
    pip = Pip()
    ensure("light", venv, pip, "linux")
    assert len(pip.calls) == 1


@pytest.mark.parametrize(
    "said, advice",
    [
        ("ERROR: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: [Errno 13] Permission denied: 'rich'", "no permission"),
        # Without a network pip says both; the cause is the first.
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError'\n"
            "ERROR: No matching distribution found for rich\n",
            "cannot be reached",
        ),
        ("ERROR: No matching distribution found for torch", "3.10 to 3.14"),
        ("ERROR: something new\n", "exit code 1"),
    ],
)
def test_a_failing_pip_is_one_clear_line_exit_2_and_no_stamp(venv, capsys, said, advice):
    assert main(["light"], Pip(1, said)) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("Set-up failed: ")
    assert advice in last and "run the same command again" in last
    assert stamp(venv) is None


def test_words_of_pip_that_nobody_foresaw_are_shown(venv, capsys):
    main(["light"], Pip(1, "ERROR: something new\n"))
    assert "something new" in capsys.readouterr().err


def test_ctrl_c_leaves_no_stamp(venv, capsys):
    def pip(arguments):
        raise KeyboardInterrupt

    assert main(["light"], pip) == 130
    assert "same command" in capsys.readouterr().err
    assert stamp(venv) is None


def test_a_stamp_that_cannot_be_written_is_one_clear_line(venv, capsys):
    (venv / ".memory-wall.new").mkdir()
    assert main(["light"], Pip()) == 2
    assert ".memory-wall.new" in capsys.readouterr().err
    assert stamp(venv) is None


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_than_on_linux_demo_installs_the_light_set_and_says_why(venv, capsys, platform):
    pip = Pip()
    ensure("full", venv, pip, platform)
    [call] = pip.calls
    assert not asked(call) & {"torch", "triton"}
    assert stamp(venv) == "light"
    assert "Linux only" in capsys.readouterr().out
    ensure("full", venv, pip, platform)
    assert len(pip.calls) == 1


def test_an_environment_without_pip_says_how_to_add_it(venv, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["light"], Pip()) == 2
    assert "ensurepip" in capsys.readouterr().err


def test_the_systems_own_python_is_left_alone(checkout, capsys, monkeypatch):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(Trouble, match="venv"):
        ensure("light", checkout / ".venv", Pip(), "linux")


@pytest.mark.parametrize("arguments", [[], ["heavy"], ["light", "full"]])
def test_wrong_words_get_the_usage(capsys, arguments):
    assert main(arguments, Pip()) == 2
    assert "light|full|dev" in capsys.readouterr().err


def test_every_direct_dependency_has_its_tested_version():
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    named = {line.split(">=")[0] for line in install.requirements("dev")}
    assert named <= pinned


def test_an_older_python_gets_a_line_and_no_traceback():
    """macOS ships 3.9, so the file must parse there to say that 3.10 is needed."""
    ast.parse(Path(install.__file__).read_text(encoding="utf-8"), feature_version=(3, 9))


def test_both_ways_to_call_it_work():
    for words in (["-m", "talk.install"], [install.__file__]):
        done = subprocess.run(
            [sys.executable, *words, "heavy"], cwd=ROOT, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert "usage" in done.stderr


@pytest.fixture
def just(tmp_path):
    """Run recipes in a checkout whose programs only repeat what they are told."""
    program = Path(sys.executable).with_name("just")
    program = program if program.exists() else shutil.which("just")
    if not program:
        pytest.skip("no just: pip install rust-just")
    for file in ("talk/__main__.py", "slides/__main__.py", "talk/install.py", ".venv/bin/python"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    for package in ("talk", "slides"):
        (tmp_path / package / "__main__.py").write_text("import sys; print(sys.argv[1:])")
    (tmp_path / "talk/install.py").touch()
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    shutil.copy(ROOT / "justfile", tmp_path)

    def run(*words):
        done = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.skipif(sys.platform == "win32", reason="PowerShell splits words at spaces")
def test_recipes_pass_every_word_on_as_it_was_typed(just):
    hard = ["5", "--record", "my talk", "$(id)", "it's", '"q"', ";", "*", ""]
    assert ast.literal_eval(just("replay", *hard)) == ["replay", *hard]
    assert ast.literal_eval(just("slides", *hard)) == hard


def test_demo_without_a_section_is_left_to_the_program(just):
    assert ast.literal_eval(just("demo")) == ["demo"]


def test_just_alone_is_the_manual(just):
    recipes = [line for line in just().splitlines() if line.startswith("    ")]
    known = {"demo", "replay", "record", "keep", "slides", "list", "bench", "test", "lint"}
    known |= {"pdf", "handout", "cheatsheet"}
    assert known <= {line.split()[0] for line in recipes}
    assert all(" # " in line for line in recipes)
