# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""setup_test.py MPIRUN UMBEL_SETUP: what umbel_setup prints."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, expect_in, main, run  # noqa: E402

MPIRUN, SETUP = sys.argv[1:3]
CALLS = [(name, size) for size in (4096, 1 << 20) for name in ("all_reduce", "broadcast", "all_gather")]


def rows(ranks, **changes):
    status, out, err = run([MPIRUN, "-n", ranks, SETUP, "--communicators", 2], **changes)
    expect(status == 0, f"status {status}\n{out}\n{err}")
    lines = [line.replace("each further", "further").split() for line in out.splitlines() if not line.startswith("#")]
    return out, lines[:2], lines[2:]


def all_rows_are_there(_):
    for ranks, nodes in ((1, "1"), (3, "2")):
        out, communicators, calls = rows(ranks, UMBEL_NODES=nodes)
        expect_in(f"# ranks {ranks}, nodes {nodes}; shared memory: ", out)
        expect([row[0] for row in communicators] == ["first", "further"], out)
        expect([(row[0], int(row[1])) for row in calls] == CALLS, out)
        expect(all(len(row) == 4 and float(row[1]) > 0 for row in communicators), out)
        expect(all(len(row) == 5 and min(map(float, row[2:])) >= 0 and float(row[2]) > 0 for row in calls), out)


def a_communicator_takes_its_window(_):
    def share_mb(window_mib):
        _, (_, further), _ = rows(2, UMBEL_WINDOW_BYTES=f"{window_mib}M")
        return float(further[3])
    small, large = share_mb(2), share_mb(10)
    expect(abs(large - small - 8 * 1.048576) < 1, f"8 MiB more of windows: {small} and {large} MB")


def bad_options(_):
    for flags in (["--communicators", "1"], ["--communicators", "x"], ["--more"]):
        status, _, err = run([MPIRUN, "-n", 1, SETUP, *flags])
        expect(status == 2, f"{flags}: status {status}")
        expect_in(flags[0], err)


main([all_rows_are_there, a_communicator_takes_its_window, bad_options])
