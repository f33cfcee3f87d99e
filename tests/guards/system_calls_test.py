# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""system_calls_test.py SMALL_CALLS: calls that need not wait make no system calls."""
import collections
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, main, run  # noqa: E402

PROGRAM = sys.argv[1]


def system_calls(folder, calls):
    """Of all the program's threads between its "begin" and its "end", how often by name."""
    trace = pathlib.Path(folder) / f"trace.{calls}"
    status, out, err = run(["strace", "-f", "-o", trace, PROGRAM, calls])
    expect(status == 0, f"{calls} calls: status {status}\n{out}\n{err}")
    lines = trace.read_text(encoding="utf-8").splitlines()
    begin, end = (next((n for n, line in enumerate(lines) if f'write(1, "{mark}' in line), None) for mark in ("begin", "end"))
    expect(begin is not None and end is not None and begin < end, f"no begin and end in what strace wrote:\n{chr(10).join(lines[-20:])}")
    names = [re.match(r"\d+\s+(\w+)\(", line) for line in lines[begin + 1:end]]
    return collections.Counter(name.group(1) for name in names if name)


def they_do_not_grow_with_the_number_of_calls(folder):
    few, many = system_calls(folder, 100), system_calls(folder, 10000)
    expect(few == many, f"system calls of 100 all-reduces: {dict(few)}, of 10000: {dict(many)}")


if shutil.which("strace") is None:
    print("there is no strace")
    sys.exit(77)
main([they_do_not_grow_with_the_number_of_calls])
