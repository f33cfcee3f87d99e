# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""A child forked by an application that uses Umbel is refused with a message, and the parent goes on."""
from job import DRIVER, MPIRUN, expect
from harness import expect_in, main, run


def children_are_refused_and_parents_go_on(_):
    for nodes in ("1", "2"):
        for count in (4, 100000):
            status, out, err = run([MPIRUN, "-n", "2", DRIVER, "fork", count], timeout=40, UMBEL_NODES=nodes)
            expect(status == 0, f"status {status}\n{out}\n{err}")
            for rank in (0, 1):
                expect_in(f"child of rank {rank}: ", err)
            expect_in("fork", err)


main([children_are_refused_and_parents_go_on])
