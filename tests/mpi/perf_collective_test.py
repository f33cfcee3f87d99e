# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""perf_collective_test.py MPIRUN PROGRAM SPOIL: what every perf program does alike, each in its own terms.

Right data for some numbers of ranks on one node and on two, out-of-place and in-place, for every root; sizes, counts and
busbw as nccl-tests defines them; wrong data (SPOIL, preloaded) ends in status 1; algorithms; the MPI peer.
"""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, expect_in, main, run  # noqa: E402

MPIRUN, PERF, SPOIL = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
NAME = pathlib.Path(PERF).name.removesuffix("_perf")
# shares: a size is of all ranks' shares; multiple: bytes that a share is a multiple of
SHARES = {"all_gather": 16, "reduce_scatter": 16, "hypercube": 16, "alltoall": 1, "alltoallv": 1, "gather": 1, "scatter": 1}
REDUCES = {"all_reduce", "reduce", "reduce_scatter"}
ROOTED = {"broadcast", "reduce", "gather", "scatter"}
NOT_IN_PLACE = {"barrier", "alltoallv", "sendrecv"}
WITHOUT_ALGORITHMS = {"sendrecv", "hypercube"}
TYPE_BYTES = {"int8": 1, "fp64": 8}


def bus_factor(ranks):
    if NAME == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if NAME in SHARES else 1


def perf(folder, *flags, ranks=2, status=0, program=(PERF,), **changes):
    """(document, stdout) of a run that ends with `status`."""
    path = pathlib.Path(folder) / "out.json"
    command = [MPIRUN, "-n", ranks, *program, "--json", path, *flags]
    ended, out, err = run(command, **changes)
    expect(ended == status, f"{flags} {changes}: status {ended}, not {status}\n{out}\n{err}")
    return json.loads(path.read_text(encoding="utf-8")), out


def expected_counts(sizes, type_bytes, ranks):
    """Of each size, without repetitions."""
    counts = []
    for size in sizes:
        count = size // type_bytes
        if NAME in SHARES:
            count //= ranks
            count -= count % max(SHARES[NAME] // type_bytes, 1)
        if NAME == "barrier":
            count = 0
        if not counts or counts[-1] != count:
            counts.append(count)
    return counts


def check_row(row, ranks):
    expect(row["reason"] is None, f"{row}")
    expect((row["root"] is not None) == (NAME in ROOTED), f"root: {row}")
    expect(row["op"] == ("sum" if NAME in REDUCES else "none"), f"op: {row}")
    expect((row["algorithm"] is None) == (NAME in WITHOUT_ALGORITHMS), f"algorithm: {row}")
    for placement in ("out_of_place", "in_place"):
        timing = row[placement]
        if placement == "in_place" and NAME in NOT_IN_PLACE:
            expect(all(value is None for value in timing.values()), f"{row}")
            continue
        expect(timing["time_us"] > 0, f"{row}")
        if NAME == "barrier":
            expect(timing["wrong"] is None and timing["algbw_gbs"] is None and timing["busbw_gbs"] is None, f"{row}")
            continue
        expect(timing["wrong"] == 0, f"wrong data: {row}")
        algbw = row["size_bytes"] / timing["time_us"] / 1000
        expect(abs(timing["algbw_gbs"] - algbw) <= 1e-6 * algbw, f"algbw is not size ÷ time: {row}")
        busbw = algbw * bus_factor(ranks)
        expect(abs(timing["busbw_gbs"] - busbw) <= 1e-6 * busbw, f"busbw is not algbw × the factor: {row}")


def right_data(folder):
    sizes = [5, 5 * 13, 5 * 13 ** 2, 5 * 13 ** 3, 5 * 13 ** 4]
    for ranks, nodes in ((1, 1), (2, 1), (3, 2), (5, 2)):
        document, _ = perf(folder, "-b", sizes[0], "-e", sizes[-1], "-f", "13", "-n", "2", "-w", "1", "-c", "2", "-r", "all",
                           "-d", "int8,double", ranks=ranks, UMBEL_NODES=nodes)
        expect((document["ranks"], document["nodes"]) == (ranks, nodes), f"{document}")
        expect(document["collective"].replace("_", "") == NAME.replace("_", ""), f"{document}")
        expected = []
        for dtype in ("none",) if NAME == "barrier" else TYPE_BYTES:
            for root in range(ranks) if NAME in ROOTED else (None,):
                for count in expected_counts(sizes, TYPE_BYTES.get(dtype, 1), ranks):
                    size = count * TYPE_BYTES.get(dtype, 1) * (ranks if NAME in SHARES else 1)
                    expected.append((dtype, root, count, size))
        found = [(row["dtype"], row["root"], row["count"], row["size_bytes"]) for row in document["rows"]]
        expect(found == expected, f"{ranks} ranks: rows\n{found}\nnot\n{expected}")
        for row in document["rows"]:
            if NAME == "hypercube" and ranks & (ranks - 1):
                expect("power of two" in row["reason"] and row["out_of_place"]["time_us"] is None, f"{row}")
            else:
                check_row(row, ranks)


def all_types_and_operators(folder):
    document, _ = perf(folder, "-b", "1K", "-e", "1K", "-n", "1", "-w", "0", "-d", "all", "-o", "all")
    for row in document["rows"]:
        expect(row["reason"] is None and row["out_of_place"]["wrong"] in (0, None), f"{row}")
    types, ops = ({row[key] for row in document["rows"]} for key in ("dtype", "op"))
    expect(len(types) == (1 if NAME == "barrier" else 21), f"{types}")
    expect(len(ops) == (13 if NAME in REDUCES else 1), f"{ops}")


def wrong_data_is_found(folder):
    if NAME == "barrier":
        return  # it has none
    # by its name: blanks would part a path in LD_PRELOAD
    libraries = ":".join(filter(None, [str(SPOIL.parent), os.environ.get("LD_LIBRARY_PATH")]))
    program = ("env", f"LD_LIBRARY_PATH={libraries}", f"LD_PRELOAD={SPOIL.name}", PERF)
    sizes = ("-b", "512", "-e", "512", "-n", "1", "-w", "0")
    rank = 0 if NAME in ("reduce", "gather") else 1
    document, out = perf(folder, *sizes, status=1, program=program, SPOIL_RANK=rank)
    row = document["rows"][0]
    expect(row["out_of_place"]["wrong"] == 1, f"one wrong element: {row}")
    expect(NAME in NOT_IN_PLACE or row["in_place"]["wrong"] == 1, f"in-place: {row}")
    expect_in("FAILED", out)
    # a changed input is wrong data too
    document, _ = perf(folder, *sizes, status=1, program=program, SPOIL_SEND=0)
    expect(document["rows"][0]["out_of_place"]["wrong"] >= 1, f"input: {document['rows'][0]}")
    # and nobody is blamed for nothing
    perf(folder, *sizes, program=program)


def algorithms(folder):
    status, out, _ = run([MPIRUN, "-n", 2, PERF, "--list-algorithms"])
    expect(status == 0, out)
    if NAME in WITHOUT_ALGORITHMS:
        expect_in("no algorithms", out)
        return
    names = [line.split()[0] for line in out.splitlines() if line.strip()]
    expect(names, "no algorithm")
    document, _ = perf(folder, "-b", "4K", "-e", "4K", "-n", "1", "--algo", "all", ranks=4, UMBEL_NODES=2)
    expect([row["algorithm"] for row in document["rows"]] == names, f"{[row['algorithm'] for row in document['rows']]}")
    ran = [row for row in document["rows"] if row["reason"] is None]
    expect(ran and all(row["out_of_place"]["wrong"] in (0, None) for row in ran), f"{document['rows']}")
    # named in the variable for this collective, and for another one
    forced = ran[-1]["algorithm"]
    for other in ("", "all_gather:ring,") if document["collective"] == "broadcast" else ("", "broadcast:direct,"):
        value = f"{other}{document['collective']}:{forced}"
        document, _ = perf(folder, "-b", "4K", "-e", "4K", "-n", "1", ranks=4, UMBEL_NODES=2, UMBEL_ALGORITHM=value)
        expect(document["rows"][0]["algorithm"] == forced, f"UMBEL_ALGORITHM={value}: {document['rows'][0]}")


def peer(folder):
    document, _ = perf(folder, "-b", "4K", "-e", "4K", "-n", "3", "-d", "half", "--peer", "mpi")
    row = document["rows"][0]
    if NAME in REDUCES:
        expect("MPI has no type fp16" in row["reason"] and row["peer"]["ratio"] is None, f"{row}")
        document, _ = perf(folder, "-b", "4K", "-e", "4K", "-n", "3", "--peer", "mpi")
        row = document["rows"][0]
    expect(row["reason"] is None and row["peer"]["time_us"] > 0, f"{row}")
    ratio = row["peer"]["time_us"] / row["out_of_place"]["time_us"]
    expect(abs(row["peer"]["ratio"] / ratio - 1) < 1e-6, f"{row}")


def preamble_states_the_formula(folder):
    _, out = perf(folder, "-b", "64", "-e", "64", "-n", "1")
    if NAME == "barrier":
        expect_in("no bandwidth", out)
    else:
        words = {"all_reduce": "2(p-1)/p"}.get(NAME, "(p-1)/p" if NAME in SHARES else "1")
        expect_in(f"busbw = algbw x {words}\n", out)
    expect(("# size: of all p shares" in out) == (NAME in SHARES), out)


main([right_data, all_types_and_operators, wrong_data_is_found, algorithms, peer, preamble_states_the_formula])
