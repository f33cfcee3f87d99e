# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Small helpers of the tests that run programs: checks that are counted, mpirun, and the end of everything started."""
import os
import signal
import subprocess
import sys
import tempfile
import traceback


class Failed(Exception):
    """A check that did not hold."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


def expect_in(part, text):
    expect(part in text, f"expected “{part}” in:\n{text}")


def environment(**changes):
    """This process's, with changes; None removes. UMBEL_* of the caller are kept out, so that a test is its own master,
    and so is a tuning file of the caller's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("UMBEL_")}
    env["UMBEL_TUNING"] = "off"
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    return env


def run(command, timeout=60, **changes):
    """(status, stdout, stderr) of a command; killed with all it started when it takes too long."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment(**changes), start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise Failed(f"still running after {timeout} s: {' '.join(map(str, command))}\n{out}\n{err}") from None
    return process.returncode, out, err


def main(tests):
    """Runs the functions; says which failed; exit status 0 or 1. A name on the command line after -- selects."""
    chosen = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    failed = 0
    for test in tests:
        if chosen and test.__name__ not in chosen:
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="umbel-test-") as folder:
                test(folder)
            print(f"ok      {test.__name__}", flush=True)
        except Failed as problem:
            failed += 1
            print(f"FAILED  {test.__name__}: {problem}", flush=True)
        except Exception:  # a defect of the test is a failure too
            failed += 1
            print(f"FAILED  {test.__name__}:\n{traceback.format_exc()}", flush=True)
    sys.exit(1 if failed else 0)
