# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""What a run of all_reduce_perf must have written: check_perf_json.py FILE RANKS NODES ALGORITHM...

Ranks and nodes as given; no wrong element, both out of place and in place; each ALGORITHM ran at least once ("any": some
algorithm did). Prints one line that counts, or what is wrong and exits with 1.
"""
import json
import sys


def complaints(document, ranks, nodes, algorithms):
    for key, expected in (("schema", 1), ("ranks", ranks), ("nodes", nodes)):
        if document[key] != expected:
            yield f"{key}: expected {expected}, got {document[key]}"
    ran = set()
    for row in document["rows"]:
        what = f"{row['algorithm']} {row['size_bytes']} bytes {row['dtype']} {row['op']}"
        placements = [row["out_of_place"], row["in_place"]]
        if row["reason"] is not None:
            if any(placement["time_us"] is not None for placement in placements):
                yield f"{what}: was timed, though {row['reason']}"
            continue
        for placement in placements:
            if placement["wrong"] != 0:
                yield f"{what}: wrong is {placement['wrong']}"
            if not placement["time_us"] or placement["time_us"] <= 0:
                yield f"{what}: time is {placement['time_us']}"
        ran.add(row["algorithm"])
    missing = set(algorithms) - ran - {"any"}
    if missing or not ran:
        yield f"did not run: {', '.join(sorted(missing)) or 'any algorithm'}"


def main():
    path, ranks, nodes, *algorithms = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    found = list(complaints(document, int(ranks), int(nodes), algorithms))
    if found:
        print("; ".join(found[:8]))
        sys.exit(1)
    ran = [row for row in document["rows"] if row["reason"] is None]
    print(f"{len(ran)} rows of {len({row['algorithm'] for row in ran})} algorithms, no wrong element")


main()
