# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Ranks that call with different arguments: an error on both, within a second or two, with both values."""
import re

from job import DRIVER, Job, expect
from harness import expect_in, main

LIMIT_S = 2.5  # a second is the promise; this machine may be busy


def judge(folder, what, count, values, ranks=2, **changes):
    with Job(folder, ranks, [DRIVER, "differ", what, count], UMBEL_TIMEOUT_S=20, **changes) as job:
        job.wait_for_ends(range(ranks), 40)
        for rank in range(ranks):
            said = job.line_of(rank)
            expect(job.status(rank) == 3, f"rank {rank}: status {job.status(rank)}\n{job.output()}")
            expect_in("mismatch", said)
            for value in values:
                expect_in(value, said)
            seconds = float(re.search(r"after ([\d.]+) s", said).group(1))
            expect(seconds < LIMIT_S, f"after {seconds} s: {said}")


def counts(folder):
    for nodes in ("1", "2"):
        for count in (3, 1000, 300000):
            judge(folder, "count", count, (str(count), str(count + 1)), UMBEL_NODES=nodes)


def types(folder):
    for nodes in ("1", "2"):
        judge(folder, "type", 1000, ("fp32", "int32"), UMBEL_NODES=nodes)


def operations(folder):
    for nodes in ("1", "2"):
        judge(folder, "op", 1000, ("sum", "max"), UMBEL_NODES=nodes)


def the_odd_one_of_four_is_named(folder):
    for nodes in ("1", "2"):
        judge(folder, "count", 5000, ("5000", "5001", "rank 1"), ranks=4, UMBEL_NODES=nodes)


main([counts, types, operations, the_odd_one_of_four_is_named])
