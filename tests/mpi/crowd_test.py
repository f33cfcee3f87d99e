# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""crowd_test.py MPIRUN ALL_REDUCE_PERF: 16 ranks, however few the cores, 8 B to 1 MB, 20 iterations, within 60 s."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, expect_in, main, run  # noqa: E402

MPIRUN, PERF = sys.argv[1:3]


def sixteen_ranks_within_a_minute(_):
    start = time.monotonic()
    status, out, err = run([MPIRUN, "-n", "16", PERF, "-b", "8", "-e", "1M", "-f", "2", "-n", "20"], timeout=80)
    seconds = time.monotonic() - start
    expect(status == 0, f"{out}\n{err}")
    expect_in("# Out of bounds values : 0 OK", out)
    expect(seconds < 60, f"took {seconds:.0f} s\n{out}")
    print(f"        {seconds:.1f} s")


main([sixteen_ranks_within_a_minute])
