# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Hosts that lack something: a /dev/shm of 64 KB, no process_vm_readv, 64 file descriptors."""
import os
import pathlib

from job import DENY_CMA, DRIVER, MPIRUN, PERF, expect
from harness import expect_in, main, run

INFO = str(pathlib.Path(PERF).with_name("umbel_info"))


def right_or_explained(status, out, err, *explanations):
    """Right results, or an error of ours that says what is missing."""
    if status == 0:
        expect_in("# Out of bounds values : 0 OK", out)
        return
    expect(status == 3, f"status {status}\n{out}\n{err}")
    expect(any(part in err for part in explanations), f"none of {explanations} in:\n{err}")


def tiny_dev_shm(_):
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    script = 'mount -t tmpfs -o size=64k tmpfs /dev/shm && test "$(stat -f -c %b /dev/shm)" -le 16 && exec "$@"'
    # Open MPI keeps its own segments there too; it is kept off it, so that what is tested is Umbel
    status, out, err = run([*unshare, "sh", "-c", script, "sh", MPIRUN, "--mca", "btl", "self,tcp", "-n", "2", PERF, "-b", "8",
                            "-e", "1M", "-f", "16", "-n", "5"])
    expect("Bus error" not in out + err and status < 128, f"status {status}\n{out}\n{err}")
    right_or_explained(status, out, err, "/dev/shm", "memory")


def no_cma(_):
    status, out, err = run([MPIRUN, "-n", "2", DENY_CMA, PERF, "-b", "8", "-e", "4M", "-f", "8", "-n", "3", "--algo", "all"])
    expect(status == 0, f"{out}\n{err}")
    expect_in("# Out of bounds values : 0 OK", out)
    # it falls back, and says so once, with the reason
    warnings = [line for line in err.splitlines() if "process_vm_readv" in line or "CMA" in line]
    expect(len(warnings) == 1, f"one warning expected, not {len(warnings)}:\n{err}")
    expect_in("not permitted", warnings[0])
    # registered buffers are no reason to count on what is not there
    status, out, err = run([MPIRUN, "-n", "2", DENY_CMA, PERF, "-b", "1M", "-e", "1M", "-n", "3", "--algo", "all", "-R", "1"])
    expect(status == 0, f"{out}\n{err}")
    expect_in("# Out of bounds values : 0 OK", out)
    status, out, err = run([MPIRUN, "-n", "2", DENY_CMA, INFO], UMBEL_REGISTERED="1")
    expect_in("not counted on without CMA", out)
    status, out, err = run([MPIRUN, "-n", "2", DENY_CMA, INFO])
    expect(status == 0, err)
    expect_in("not permitted", out)


def no_cma_on_one_rank_of_two(_):
    script = 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then exec "$0" "$@"; else exec "$@"; fi'
    status, out, err = run([MPIRUN, "-n", "2", "sh", "-c", script, DENY_CMA, PERF, "-b", "1M", "-e", "1M", "-n", "3"])
    expect(status == 0, f"{out}\n{err}")
    expect_in("# Out of bounds values : 0 OK", out)


def cma_demanded_where_there_is_none(_):
    status, out, err = run([MPIRUN, "-n", "2", DENY_CMA, PERF, "-b", "8", "-e", "8"], UMBEL_CMA="on")
    expect(status in (2, 3), f"status {status}\n{out}\n{err}")
    expect_in("UMBEL_CMA", err)


def few_descriptors(_):
    limited = ["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh"]
    for nodes, registered in (("1", "0"), ("1", "1"), ("2", "0")):
        command = [PERF, "-b", "8", "-e", "64K", "-f", "16", "-n", "5", "-R", registered]
        status, out, err = run([MPIRUN, "-n", "4", *limited, *command], UMBEL_NODES=nodes)
        right_or_explained(status, out, err, "Too many open files", "descriptor", "ulimit")


def many_communicators_with_few_descriptors(_):
    limited = ["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh"]
    for nodes in ("1", "2"):
        status, out, err = run([MPIRUN, "-n", "2", *limited, DRIVER, "many", "64"], UMBEL_NODES=nodes)
        if status == 0:
            expect(out.count("made them all") == 2, out)
        else:
            expect(status == 3, f"status {status}\n{out}\n{err}")
            expect(any(part in err for part in ("Too many open files", "descriptor", "ulimit")), err)


main([tiny_dev_shm, no_cma, no_cma_on_one_rank_of_two, cma_demanded_where_there_is_none, few_descriptors,
      many_communicators_with_few_descriptors])
