# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""large_test.py MPIRUN ALL_REDUCE_PERF: more than 2³¹ bytes, and more than 2³¹ elements, in one call."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, main, run  # noqa: E402

MPIRUN, PERF = sys.argv[1:3]
BEYOND = 2**31 + 12345


def check(folder, dtype, size, nodes, algorithms):
    path = pathlib.Path(folder) / "large.json"
    status, out, err = run([MPIRUN, "-n", "2", PERF, "-b", size, "-e", size, "-n", "1", "-w", "0", "-d", dtype, "--algo",
                            algorithms, "--json", path], timeout=500, UMBEL_NODES=nodes)
    expect(status == 0, f"{out}\n{err}")
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        expect(row["out_of_place"]["wrong"] == 0 and row["in_place"]["wrong"] == 0, f"{row}")
        print(f"covered: {row['size_bytes']} bytes, {row['count']} elements {dtype}, 2 ranks on {nodes} nodes: {row['algorithm']}, "
              "0 wrong out-of-place, 0 in-place", flush=True)


def elements_beyond_an_int_on_one_node(folder):
    check(folder, "int8", BEYOND, 1, "auto,ring")


def elements_beyond_an_int_between_nodes(folder):
    check(folder, "uint8", BEYOND, 2, "auto")


def bytes_beyond_an_int(folder):
    check(folder, "float", BEYOND + 7, 1, "two_shot,halving_doubling")


main([elements_beyond_an_int_on_one_node, elements_beyond_an_int_between_nodes, bytes_beyond_an_int])
