# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""A rank is killed in the middle of calls: each survivor names it and ends with status 3 within 5 s; nothing is left behind."""
import signal
import time

from job import DRIVER, PERF, Job, expect, shared_memory_files
from harness import expect_in, main

LIMIT_S = 5


def kill_and_judge(folder, ranks, victim, command, ready, **changes):
    before = shared_memory_files()
    with Job(folder, ranks, command, **changes) as job:
        ready(job)
        time.sleep(0.3)
        killed_at = time.time()
        job.signal(victim, signal.SIGKILL)
        survivors = [rank for rank in range(ranks) if rank != victim]
        job.wait_for_ends(survivors, LIMIT_S + 5)
        for rank in survivors:
            seconds = float(job.text(f"end.{rank}")) - killed_at
            expect(seconds < LIMIT_S, f"rank {rank} ended after {seconds:.1f} s\n{job.output()}")
            expect(job.status(rank) == 3, f"rank {rank} ended with status {job.status(rank)}, not 3\n{job.output()}")
            expect_in(f"rank {victim} ", job.line_of(rank).split(":", 1)[1])
            expect_in("peer failure", job.line_of(rank))
    expect(shared_memory_files() <= before, f"left in /dev/shm: {shared_memory_files() - before}")


def in_a_loop_of_calls(folder):
    for nodes, count in (("1", 4), ("1", 300000), ("2", 1000), ("0,1,0", 300000)):
        kill_and_judge(folder, 3, 1, [DRIVER, "loop", count], lambda job: job.wait_for_output("loops", 3), UMBEL_NODES=nodes)


def in_a_loop_of_messages(folder):
    for nodes, count in (("1", 4), ("1", 300000), ("2", 1000), ("0,1,0", 300000)):
        kill_and_judge(folder, 3, 1, [DRIVER, "ring", count], lambda job: job.wait_for_output("loops", 3), UMBEL_NODES=nodes)


def its_memory_first(folder, ranks, how, count):
    """The memory of a rank that dies is gone a moment before its process: what fails then is the reading."""
    with Job(folder, ranks, [DRIVER, "vanish", how, count], UMBEL_CMA="on", UMBEL_ALGORITHM="two_shot", UMBEL_PIECE_BYTES="1G",
             UMBEL_DEBUG="debug", UMBEL_DEBUG_SUBSYS="plan") as job:
        survivors = [rank for rank in range(ranks) if rank != 1]
        job.wait_for_ends(survivors, 30)
        for rank in survivors:
            expect(job.status(rank) == 3, f"rank {rank} ended with status {job.status(rank)}, not 3\n{job.output()}")
            expect_in("peer failure: rank 1 ", job.line_of(rank))
        return job.output()


def while_a_message_is_read(folder):
    its_memory_first(folder, 3, "message", 300000)


def while_its_input_is_read(folder):
    # Whether inputs are read in place is the cost model's choice, by what it has measured: nearly always.
    tries = 5
    while "all_reduce of 16000000 bytes: two_shot, direct" not in its_memory_first(folder, 2, "call", 4000000):
        tries -= 1
        expect(tries > 0, "the input was never read in place")


def a_rank_alone_on_its_node(folder):
    kill_and_judge(folder, 4, 3, [DRIVER, "loop", 50000], lambda job: job.wait_for_output("loops", 4), UMBEL_NODES="0,0,0,1")


def in_the_perf_app(folder):
    for nodes in ("1", "2"):
        command = [PERF, "-b", "64K", "-e", "64K", "-n", "50", "-N", "0"]
        kill_and_judge(folder, 4, 2, command, lambda job: job.wait_for_output("fp32", 3), UMBEL_NODES=nodes)


def with_registered_buffers(folder):
    command = [PERF, "-b", "64K", "-e", "64K", "-n", "50", "-N", "0", "-R", "1", "--algo", "two_shot"]
    kill_and_judge(folder, 3, 1, command, lambda job: job.wait_for_output("fp32", 3), UMBEL_NODES="1")


main([in_a_loop_of_calls, in_a_loop_of_messages, while_a_message_is_read, while_its_input_is_read, a_rank_alone_on_its_node, in_the_perf_app,
      with_registered_buffers])
