# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""hosts_test.py MPIRUN ALL_REDUCE_PERF UMBEL_INFO REGRESSION_KINDS LATE_ROOT: hosts that other libraries took for what they
are not: names that are equal to their first dot, no IPv4, fewer cores than ranks. README.md says what went wrong there."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, expect_in, main, run  # noqa: E402

MPIRUN, PERF, INFO, KINDS = sys.argv[1:5]
LATE_ROOT = pathlib.Path(sys.argv[5])
UNSHARE = ["unshare"] if os.geteuid() == 0 else ["unshare", "--map-root-user"]


def expect_right(status, out, err):
    expect(status == 0, f"status {status}\n{out}\n{err}")
    expect_in("# Out of bounds values : 0 OK", out)


def names_with_dots(_):
    """nccl#187: two names that are equal to the first dot. Here one host has both, so there is one node; which hosts
    share memory is found by sharing it, and no name is asked."""
    named = 'hostname "$1.$OMPI_COMM_WORLD_RANK.example" && export HOSTNAME="$(hostname)" && shift && exec "$@"'
    for name in ("a", "a.b"):
        command = [MPIRUN, "-n", "2", *UNSHARE, "--uts", "sh", "-c", named, "sh", name]
        status, out, err = run([*command, INFO])
        expect(status == 0, f"status {status}\n{out}\n{err}")
        expect_in("2 ranks on 1 node", out)
        for rank in (0, 1):
            expect_in(f"{name}.{rank}.example", out)
        expect_right(*run([*command, PERF, "-b", "8", "-e", "64K", "-f", "16", "-n", "5"]))
    # and names that are equal keep nothing together that the user wants apart
    same = 'hostname a.example && exec "$@"'
    command = [MPIRUN, "-n", "2", *UNSHARE, "--uts", "sh", "-c", same, "sh", INFO]
    status, out, err = run(command, UMBEL_NODES="2")
    expect(status == 0, f"status {status}\n{out}\n{err}")
    expect_in("2 ranks on 2 nodes", out)


def five_ranks_on_two_cores(_):
    """ompi#10426: what took minutes with a core for each took an hour without."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    start = time.monotonic()
    expect_right(*run(["taskset", "-c", ",".join(map(str, cores)), MPIRUN, "-n", "5", PERF, "-b", "8", "-e", "1M", "-f", "8",
                       "-n", "20"], timeout=80))
    seconds = time.monotonic() - start
    expect(seconds < 60, f"took {seconds:.0f} s")


def a_root_that_is_late_at_the_end(_):
    """Ours: on a host with more ranks than cores the perf app asked for the health of what it had destroyed."""
    # by its name: blanks would part a path in LD_PRELOAD
    libraries = ":".join(filter(None, [str(LATE_ROOT.parent), os.environ.get("LD_LIBRARY_PATH")]))
    expect_right(*run([MPIRUN, "-n", "3", "env", f"LD_LIBRARY_PATH={libraries}", f"LD_PRELOAD={LATE_ROOT.name}", PERF, "-b", "8",
                       "-e", "8", "-n", "2"]))


def no_ipv4(_):
    """gloo#268, gloo#70: a loopback that has an IPv6 address alone. Ranks as threads, since Open MPI starts nothing there. One
    node needs no address; of two nodes the results are right, or the error names the device and what is wrong with it."""
    script = ("ip link set lo up && ip -4 addr flush dev lo && ip -6 addr show dev lo | grep -q ::1 && "
              'test -z "$(ip -4 addr show dev lo)" && exec "$@"')
    command = [*UNSHARE, "--net", "sh", "-c", script, "sh", KINDS]
    status, out, err = run([*command, "--gtest_filter=On/Kinds.UnevenShares/p2_one_node"])
    expect(status == 0 and "[  PASSED  ] 1 test." in out, f"status {status}\n{out}\n{err}")
    status, out, err = run([*command, "--gtest_filter=On/Kinds.UnevenShares/p2_2"])
    expect(status < 128 and "[ RUN      ]" in out, f"status {status}\n{out}\n{err}")
    if status != 0:
        expect(any(part in out for part in ("device", "address", "transport")), f"{out}\n{err}")
        expect("wrong result" not in out, out)


main([names_with_dots, five_ranks_on_two_cores, a_root_that_is_late_at_the_end, no_ipv4])
