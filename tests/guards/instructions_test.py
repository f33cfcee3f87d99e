# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""instructions_test.py SMALL_CALLS: how many instructions a small all-reduce takes, so that its path does not grow unseen."""
import collections
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, main, run  # noqa: E402

PROGRAM = sys.argv[1]
CALLS = 1000
RECORDED = 1783  # of an all-reduce of 8 bytes on 1 host × 2 ranks; by g++ 12.2 on x86_64
BOUND = RECORDED * 1.05  # for other versions of the compiler and of the C library


def profiles(folder):
    """Of each call: instructions by function, of what the function itself did."""
    file = pathlib.Path(folder) / "callgrind"
    status, out, err = run(["valgrind", "--tool=callgrind", "--toggle-collect=umbel_all_reduce", "--dump-after=umbel_all_reduce", "--combine-dumps=yes",
                            "--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={file}", PROGRAM, CALLS], timeout=100)
    expect(status == 0, f"status {status}\n{out}\n{err}")
    parts = re.split(r"^part: \d+$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [profile(part) for part in parts]


def profile(part):
    costs = collections.Counter()
    function = ""
    of_a_callee = False
    for line in part.splitlines():
        if line.startswith("fn="):
            function = line.removeprefix("fn=")
        elif line.startswith("calls="):
            of_a_callee = True  # what the next line says is in the callee's own lines
        elif re.match(r"\d+ \d+$", line):
            if not of_a_callee:
                costs[function] += int(line.split()[1])
            of_a_callee = False
    return costs


def an_all_reduce_of_8_bytes(folder):
    calls = [call for call in profiles(folder) if call["umbel_all_reduce"]][-CALLS:]  # without the first few
    expect(len(calls) == CALLS, f"{len(calls)} calls were counted, not {CALLS}")
    least = min(calls, key=lambda call: call.total())
    waits = [name for name in least if "Waiter::idle" in name]
    expect(not waits, f"the call waited: {waits}")
    top = "\n".join(f"{count:>7} {name}" for name, count in least.most_common(25))
    print(f"{least.total()} instructions, recorded {RECORDED}, at most {BOUND:.0f}", flush=True)
    expect(least.total() <= BOUND, f"the path has grown. Where the instructions are:\n{top}\nIf that is meant, record the new number here and in docs/performance.md.")


if shutil.which("valgrind") is None:
    print("there is no valgrind")
    sys.exit(77)
main([an_all_reduce_of_8_bytes])
