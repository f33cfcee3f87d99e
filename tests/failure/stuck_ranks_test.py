# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""A rank that is stopped, or never calls, or has left: the deadline's error names it, and says where it is."""
import signal
import time

from job import DRIVER, PERF, Job, expect
from harness import expect_in, main

DEADLINE_S = 2


def judge(job, culprit, ranks, *parts, seconds=DEADLINE_S + 6):
    others = [rank for rank in range(ranks) if rank != culprit]
    job.wait_for_ends(others, seconds)
    for rank in others:
        expect(job.status(rank) == 3, f"rank {rank}: status {job.status(rank)}\n{job.output()}")
        said = job.line_of(rank).split(":", 1)[1]
        expect_in(f"rank {culprit} ", said)
        for part in parts:
            expect_in(part, said)


def stopped(folder):
    for nodes in ("1", "0,0,1"):
        with Job(folder, 3, [DRIVER, "loop", 2000], UMBEL_NODES=nodes, UMBEL_TIMEOUT_S=DEADLINE_S) as job:
            job.wait_for_output("loops", 3)
            time.sleep(0.3)
            job.signal(2, signal.SIGSTOP)
            judge(job, 2, 3, "timeout")


def silent(folder):
    # Ring 0 → 1 → 2 → 0 over three nodes. Rank 2 stays away, so rank 1 waits for rank 0's second message, and rank 0,
    # whose first one it has, is stopped: that is told long before the deadline.
    with Job(folder, 3, [DRIVER, "absent", 2, 300000], UMBEL_NODES="0,1,2", UMBEL_ALGORITHM="ring",
             UMBEL_TIMEOUT_S=40) as job:
        job.wait_for_output("stays away", 1)
        time.sleep(2)
        job.signal(0, signal.SIGSTOP)
        job.wait_for_ends([1], 25)
        expect(job.status(1) == 3, f"rank 1: status {job.status(1)}\n{job.output()}")
        expect_in("nothing heard from rank 0 ", job.line_of(1))
        expect_in("stopped", job.line_of(1))


def never_called(folder):
    for nodes in ("1", "2"):
        with Job(folder, 3, [DRIVER, "absent", 1, 2000], UMBEL_NODES=nodes, UMBEL_TIMEOUT_S=DEADLINE_S) as job:
            judge(job, 1, 3, "timeout", "operation", seconds=30)


def left(folder):
    with Job(folder, 2, [DRIVER, "leave", 1, 2000], UMBEL_NODES="1", UMBEL_TIMEOUT_S=DEADLINE_S) as job:
        judge(job, 1, 2, "destroyed", seconds=30)


def stopped_in_the_perf_app(folder):
    with Job(folder, 3, [PERF, "-b", "64K", "-e", "64K", "-n", "50", "-N", "0"], UMBEL_TIMEOUT_S=DEADLINE_S) as job:
        job.wait_for_output("fp32", 3)
        job.signal(1, signal.SIGSTOP)
        judge(job, 1, 3)


main([stopped, silent, never_called, left, stopped_in_the_perf_app])
