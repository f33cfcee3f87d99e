# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""all_reduce_perf --peer mpi: the peer's call blocks; a rank that dies or stops in it still ends in a message and status 3."""
import json
import os
import pathlib
import signal
import sys
import time

from job import PERF, Job, expect
from harness import expect_in, main

END_IN_PEER = pathlib.Path(sys.argv[5])
RANKS, VICTIM = 3, 1


def end_in_peer(folder, sent, deadline_s, limit_s, says):
    document = f"{folder}/out.json"
    # By its name: blanks would part a path in LD_PRELOAD.
    libraries = ":".join(filter(None, [str(END_IN_PEER.parent), os.environ.get("LD_LIBRARY_PATH")]))
    command = ["env", f"LD_LIBRARY_PATH={libraries}", f"LD_PRELOAD={END_IN_PEER.name}", PERF, "-b", "1K", "-e", "64K", "-f", "64", "-n", "3", "-w", "1", "--peer", "mpi",
               "-T", deadline_s, "--json", document]
    with Job(folder, RANKS, command, END_IN_PEER_RANK=VICTIM, END_IN_PEER_SIGNAL=int(sent)) as job:
        job.wait_for_output("fp32", 1)  # one row is done; the victim goes in the second
        seen = time.monotonic()
        survivors = [rank for rank in range(RANKS) if rank != VICTIM]
        job.wait_for_ends(survivors, limit_s)
        for rank in survivors:
            expect(job.status(rank) == 3, f"rank {rank} ended with status {job.status(rank)}, not 3\n{job.output()}")
            line = job.line_of(rank)
            expect_in("the peer's MPI_Allreduce", line)
            expect_in(f"rank {VICTIM} ", line.split(":", 1)[1])
            expect_in(says, line)
        print(f"        {time.monotonic() - seen:.1f} s", flush=True)
    with open(document, encoding="utf-8") as file:
        expect(len(json.load(file)["rows"]) == 1, "the row that was measured is in the JSON file")


def a_dead_rank_is_seen_before_the_deadline(folder):
    end_in_peer(folder, signal.SIGKILL, 60, 10, "is dead")


def a_stopped_rank_is_told_at_the_deadline(folder):
    end_in_peer(folder, signal.SIGSTOP, 3, 15, "is stopped")


main([a_dead_rank_is_seen_before_the_deadline, a_stopped_rank_is_told_at_the_deadline])
