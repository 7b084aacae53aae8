from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import untwin as package
from untwin.cli.group import COMMANDS, cli
from untwin.cli.run import Ended, _ending_in_order, run

COMMAND = Path(sys.executable).parent / "untwin"

MANUAL = Path(__file__).parents[2] / "docs" / "commands.md"
HEAVY = {"numpy", "scipy", "sklearn", "polars", "rich"}


def modules_loaded_by(code):
    program = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_help_is_light():
    calls = [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]
    loaded = modules_loaded_by(f"from untwin.cli.run import run\nfor call in {calls!r}: assert run(call) == 0")
    assert not loaded & HEAVY


def test_it_runs_as_a_module_too():
    done = subprocess.run([sys.executable, "-m", "untwin", "--version"], capture_output=True, text=True, check=True)
    assert package.__version__ in done.stdout


def test_the_manual_names_every_command_and_every_option():
    manual = MANUAL.read_text()
    for name in COMMANDS:
        assert f"## untwin {name}" in manual
        for option in cli.get_command(None, name).params:
            assert all(f"`{flag}" in manual for flag in option.opts if flag.startswith("--")), (name, option.opts)


def test_importing_the_package_is_light():
    assert not modules_loaded_by("import untwin") & (HEAVY | {"click"})


def test_help_and_version(untwin):
    done = untwin("--help")
    assert done.returncode == 0
    assert b"check" in done.stdout
    assert b"demo" in done.stdout
    assert untwin("--version").stdout.decode().split()[-1] == package.__version__
    assert b"--skip-bad-rows" in untwin("check", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chek"], "No such command 'chek'"),
        (["check"], "Missing argument 'DATA'"),
        (["check", "x.csv", "--limit", "0"], "--limit"),
        (["check", "x.csv", "--bogus"], "--bogus"),
        ([], "Usage"),
    ],
)
def test_wrong_usage_ends_with_2(untwin, arguments, words):
    done = untwin(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    assert words in done.stderr.decode()


def test_wrong_usage_as_json(untwin):
    done = untwin("check", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "usage"


def command(*arguments, **options):
    return subprocess.Popen([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_interrupted(tmp_path, options, number):
    fifo = tmp_path / "t.csv"
    os.mkfifo(fifo)
    process = command("check", str(fifo), *options)
    with fifo.open("wb"):  # opens when the command reads: it is in the middle of its work
        time.sleep(0.05)
        process.send_signal(number)
        out, talk = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    if options:
        assert json.loads(out)["error"]["code"] == "interrupted"
        assert not json.loads(out)["ok"]
    else:
        assert out == b""
    assert b"Traceback" not in talk


def test_a_signal_that_is_to_be_ignored_is_ignored(tmp_path):
    """As `nohup` wants it."""
    fifo = tmp_path / "t.csv"
    os.mkfifo(fifo)
    ignoring = ["bash", "-c", 'trap "" HUP; exec "$@"', "bash", COMMAND, "check", fifo]
    process = subprocess.Popen(ignoring, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with fifo.open("wb") as rows:
        process.send_signal(signal.SIGHUP)
        rows.write(b"text,label\nxx,a\nyy,b\nzz,a\n")
    process.communicate(timeout=20)
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_keep_a_command_from_tidying_up(number):
    tidied = []

    @contextmanager
    def tidying():
        try:
            yield
        finally:
            os.kill(os.getpid(), number)  # in the middle of it
            time.sleep(0.01)
            tidied.append(True)

    with _ending_in_order():
        with pytest.raises(Ended) as caught, tidying():
            os.kill(os.getpid(), number) or time.sleep(10)
        assert caught.value.number == number
        assert tidied
        with pytest.raises(Ended):  # the next one counts again
            os.kill(os.getpid(), number) or time.sleep(10)


def test_signals_are_given_back(capsys):
    assert run(["--version"]) == 0
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with ThreadPoolExecutor(1) as pool:  # where no signal arrives
        assert pool.submit(run, ["--version"]).result() == 0


@pytest.mark.parametrize("arguments", [["--json"], []])
def test_closed_pipe(tmp_path, arguments):
    path = tmp_path / "t.csv"
    header = ",".join(f"column{i}" for i in range(300))
    path.write_text(f"{header},label\n" + "".join(f"{f'{i},' * 300}{i % 2}\n" for i in range(4)))
    process = command("check", str(path), *arguments)
    process.stdout.close()
    talk = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=20) == 0
    assert b"Traceback" not in talk
    assert b"Exception ignored" not in talk
    assert b"BrokenPipe" not in talk


def test_closed_stderr(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\nxx,a\nyy,b\n")
    process = command("check", str(path))
    process.stderr.close()
    process.stdout.read()
    process.stdout.close()
    assert process.wait(timeout=20) in {0, 1}


def test_streams_closed_from_the_start(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\nxx,a\nyy,b\nzz,a\n")
    program = f"{shlex.quote(str(COMMAND))} check {shlex.quote(str(path))} >&-"
    done = subprocess.run(program, shell=True, capture_output=True, check=False)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_full_disk(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\nxx,a\nyy,b\n")
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run([COMMAND, "check", path], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


BROKEN = """
import sys, untwin.data.load as load
from untwin.cli.run import run
load.read_table = None
sys.exit(run(['check', 'x'{}]))
"""


@pytest.mark.parametrize("debug", ["", "1"])
def test_internal_errors_end_with_70_and_one_line(debug):
    environment = {**os.environ, "UNTWIN_DEBUG": debug}
    program = [sys.executable, "-c", BROKEN.format("")]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 70
    assert done.stdout == ""
    assert "UNTWIN_DEBUG=1" in done.stderr
    assert ("Traceback" in done.stderr) == bool(debug)


def test_internal_errors_as_json():
    program = [sys.executable, "-c", BROKEN.format(", '--json'")]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert json.loads(done.stdout)["error"]["code"] == "internal"


def test_threads_reach_the_libraries_before_they_are_loaded(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\nxx,a\nyy,b\n")
    code = f"from untwin.cli.run import run\nrun(['check', {str(path)!r}, '--threads', '1'])\nimport polars\n"
    program = f"{code}assert polars.thread_pool_size() == 1"
    environment = {key: value for key, value in os.environ.items() if key != "POLARS_MAX_THREADS"}
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=environment)
