# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""compare_test.py MPIRUN UMBEL_COMPARE UMBEL_MEMORY_LIMITS SPOIL [MPIEXEC_MPICH UMBEL_COMPARE_MPICH YIELD]: what scripts/compare runs."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, expect_in, main, run  # noqa: E402

MPIRUN, COMPARE, LIMITS = sys.argv[1:4]
SPOIL = pathlib.Path(sys.argv[4])
MPICH = sys.argv[5:8]
SEVEN = ["all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier"]
SHORT = ["--seconds", "0.001", "--least", "2", "--most", "4"]


def preloaded(library, program):
    """By its name: blanks would part a path in LD_PRELOAD."""
    libraries = ":".join(filter(None, [str(library.parent), os.environ.get("LD_LIBRARY_PATH")]))
    return ["env", f"LD_LIBRARY_PATH={libraries}", f"LD_PRELOAD={library.name}", program]


def compare(*flags, ranks=3, status=0, launcher=MPIRUN, program=(COMPARE,), **changes):
    ended, out, err = run([launcher, "-n", ranks, *program, *SHORT, *flags], **changes)
    expect(ended == status, f"{flags}: status {ended}, not {status}\n{out}\n{err}")
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def check_cases(cases, names, sizes):
    expected = [(c, s) for c in SEVEN for s in ([0] if c == "barrier" else sizes)]
    expect([(case["collective"], case["size_bytes"]) for case in cases] == expected, f"{cases}")
    for case in cases:
        expect([score["name"] for score in case["scores"]] == names, f"{case}")
        for score in case["scores"]:
            if "lacks" in score:
                expect(score["name"] == "gloo" and case["collective"] == "reduce_scatter", f"{case}")
                continue
            expect(score["wrong"] == 0 and 0 < score["p50_us"] <= score["p99_us"], f"{case}")
            expect(2 <= score["iterations"] <= 4, f"{case}")
        own = case["scores"][-1]
        expect(own["algorithm"] and own["predicted_us"] > 0, f"{case}")


def seven_collectives_beside_the_host_mpi(_):
    facts, *cases = compare("--sizes", "8,1000,64K", "--mpi-name", "openmpi", UMBEL_NODES="2")
    expect((facts["ranks"], facts["nodes"]) == (3, 2) and facts["mpi"] and facts["umbel"]["version"], f"{facts}")
    check_cases(cases, ["openmpi", "umbel"], [8, 1000, 65536])
    counts = {case["collective"]: case["count"] for case in cases if case["size_bytes"] == 8}
    expect(counts["all_reduce"] == 2 and counts["all_gather"] == 1, f"an element for each rank at least: {counts}")


def gloo_in_the_same_loop(_):
    if not MPICH:
        return  # where the peers' packages are missing Gloo may be, too
    check_cases(compare("--sizes", "8,100K", "--peers", "mpi,gloo")[1:], ["mpi", "gloo", "umbel"], [8, 102400])


def gather(_):
    peers = ["mpi", "gloo"] if MPICH else ["mpi"]
    (_, case) = compare("--sizes", "4K", "--collectives", "gather", "--peers", ",".join(peers))
    expect([score["name"] for score in case["scores"]] == [*peers, "umbel"] and all(score["wrong"] == 0 for score in case["scores"]), f"{case}")


def mpich(_):
    if not MPICH:
        return
    launcher, program, yielding = MPICH
    for command in ((program,), preloaded(pathlib.Path(yielding), program)):
        facts, *cases = compare("--sizes", "8,100K", launcher=launcher, program=command)
        expect_in("MPICH", facts["mpi"])
        check_cases(cases, ["mpi", "umbel"], [8, 102400])


def each_algorithm_forced(_):
    (_, case) = compare("--sizes", "4K", "--collectives", "all_reduce", "--peers", "none", "--algorithms")
    ran = {score["name"]: score for score in case["scores"] if "lacks" not in score}
    expect({"umbel", "umbel:ring", "umbel:two_shot"} <= set(ran), f"{case}")
    for name, score in ran.items():
        expect(name == "umbel" or score["algorithm"] == name.removeprefix("umbel:"), f"{score}")


def registered_buffers(_):
    _, *cases = compare("--sizes", "8,300K", "--peers", "none", "--registered")
    check_cases(cases, ["umbel_registered"], [8, 307200])


def wrong_data_is_found(_):
    lines = compare("--sizes", "512", "--collectives", "all_reduce", status=1, program=preloaded(SPOIL, COMPARE), SPOIL_RANK="1")
    wrong = {score["name"]: score["wrong"] for score in lines[1]["scores"]}
    expect(wrong == {"mpi": 0, "umbel": 1}, f"{wrong}")


def bad_options(_):
    for flags, said in ((["--sizes", "8,x"], "no size"), (["--collectives", "all"], "--collectives"), (["--peers", "nccl"], "--peers"),
                        (["--sizes", "0"], "no size"), (["--least", "0"], "--least")):
        ended, _, err = run([MPIRUN, "-n", 2, COMPARE, *flags])
        expect(ended == 2, f"{flags}: status {ended}")
        expect_in(said, err)


def limits_of_memory(_):
    status, out, err = run([LIMITS], timeout=120)
    if status == 3 and len(os.sched_getaffinity(0)) < 2:
        return
    expect(status == 0, err)
    limits = json.loads(out)
    expect(1e-9 < limits["flag_hop_s"] < 1e-2 and limits["cores"] >= 2, f"{limits}")
    expect(all(1e6 < row[f"{work}_bytes_per_s"] < 1e13 for row in limits["exchange"] for work in ("copy", "add")), f"{limits}")


main([seven_collectives_beside_the_host_mpi, gloo_in_the_same_loop, gather, mpich, each_algorithm_forced, registered_buffers, wrong_data_is_found, bad_options,
      limits_of_memory])
