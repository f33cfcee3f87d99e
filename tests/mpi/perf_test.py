# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""perf_test.py MPIRUN ALL_REDUCE_PERF UMBEL_INFO UMBEL_PLAN: flags, results, files and exit statuses of the programs."""
import csv
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, expect_in, main, run  # noqa: E402

MPIRUN, PERF, INFO, PLAN = sys.argv[1:5]
NUMBER = (int, float)


def perf(*flags, ranks=2, **changes):
    return run([MPIRUN, "-n", ranks, PERF, *flags], **changes)


def perf_json(folder, *flags, ranks=2, expected_status=0, **changes):
    path = pathlib.Path(folder) / "out put.json"
    status, out, err = perf(*flags, "--json", path, ranks=ranks, **changes)
    expect(status == expected_status, f"status {status}, not {expected_status}\n{out}\n{err}")
    return json.loads(path.read_text(encoding="utf-8")), out


def check_keys(what, thing, types):
    expect(list(thing) == list(types), f"{what}: keys {list(thing)}, not {list(types)}")
    for key, allowed in types.items():
        expect(isinstance(thing[key], allowed) and not isinstance(thing[key], bool), f"{what}.{key} is {thing[key]!r}")


NONE = type(None)
TIMING = {"time_us": (*NUMBER, NONE), "p50_us": (*NUMBER, NONE), "p99_us": (*NUMBER, NONE), "algbw_gbs": (*NUMBER, NONE),
          "busbw_gbs": (*NUMBER, NONE), "wrong": (int, NONE)}
ROW = {"size_bytes": int, "count": int, "dtype": str, "op": str, "root": (int, NONE), "algorithm": (str, NONE),
       "reason": (str, NONE), "out_of_place": dict, "in_place": dict, "model_us": (*NUMBER, NONE), "peer": (dict, NONE)}
DOCUMENT = {"schema": int, "umbel": dict, "mpi": str, "ranks": int, "nodes": int, "placement": str,
            "model": dict, "collective": str, "rows": list}
MODEL = dict.fromkeys(("local_alpha", "local_beta", "direct_beta", "copy_beta", "gamma", "net_alpha", "net_post", "net_beta", "rails", "cache_bytes", "ranks_per_core"),
                      float)


def check_schema(document):
    check_keys("document", document, DOCUMENT)
    expect(document["schema"] == 1 and document["collective"] == "all_reduce", f"{document}")
    check_keys("umbel", document["umbel"], {"version": str, "git": str})
    expect(isinstance(document["model"].pop("direct"), bool), "model.direct is true or false")
    check_keys("model", document["model"], MODEL)
    for row in document["rows"]:
        check_keys("row", row, ROW)
        check_keys("out_of_place", row["out_of_place"], TIMING)
        check_keys("in_place", row["in_place"], TIMING)
        if row["peer"] is not None:
            check_keys("peer", row["peer"], {"name": str, "time_us": (*NUMBER, NONE), "ratio": (*NUMBER, NONE)})


def schema_and_figures(folder):
    document, _ = perf_json(folder, "-b", "8", "-e", "64K", "-f", "16", "-n", "5", ranks=3, UMBEL_NODES="2")
    check_schema(document)
    expect((document["ranks"], document["nodes"]) == (3, 2), f"ranks and nodes: {document['ranks']}, {document['nodes']}")
    expect([row["size_bytes"] for row in document["rows"]] == [8, 128, 2048, 32768], "sizes")
    for row in document["rows"]:
        expect(row["count"] * 4 == row["size_bytes"] and row["dtype"] == "fp32" and row["op"] == "sum", f"{row}")
        expect(row["algorithm"] and row["reason"] is None and row["model_us"] > 0 and row["peer"] is None, f"{row}")
        for timing in (row["out_of_place"], row["in_place"]):
            expect(timing["wrong"] == 0, f"{row}")
            expect(0 < timing["p50_us"] <= timing["p99_us"], f"{timing}")
            algbw = row["size_bytes"] / timing["time_us"] / 1000
            expect(abs(timing["algbw_gbs"] / algbw - 1) < 1e-6, f"algbw {timing} is not size ÷ time")
            expect(abs(timing["busbw_gbs"] / (algbw * 4 / 3) - 1) < 1e-6, f"busbw {timing} is not algbw × 2(p−1)/p")


def registered_buffers(folder):
    for nodes in ("1", "2"):
        _, out = perf_json(folder, "-b", "64", "-e", "1M", "-f", "16", "-n", "3", "-R", "1", ranks=3, UMBEL_NODES=nodes)
        expect_in("# buffers: registered", out)
        expect_in("# Out of bounds values : 0 OK", out)
    document, out = perf_json(folder, "-b", "1M", "-e", "1M", "-n", "3", "--local_register", "1")
    if document["model"]["direct"]:
        expect(document["model"]["direct_beta"] == document["model"]["local_beta"], f"{document['model']}")
    expect("registered" not in perf("-b", "64", "-e", "64", "-n", "3", "-R", "0")[1], "by default they are not")
    status, out, err = run([MPIRUN, "-n", 2, INFO], UMBEL_REGISTERED="1")
    expect(status == 0, err)
    expect_in("registered buffers", out)


def table_and_csv(folder):
    path = pathlib.Path(folder) / "out.csv"
    status, out, _ = perf("-b", "1K", "-e", "2k", "-i", "512", "-n", "2", "--percentiles", "--csv", path)
    expect(status == 0, out)
    expect_in("# Out of bounds values : 0 OK", out)
    expect_in("# Avg bus bandwidth", out)
    expect_in("p99", out)
    sizes = [int(line.split()[0]) for line in out.splitlines() if re.match(r" +\d", line)]
    expect(sizes == [1024, 1536, 2048], f"sizes {sizes}")
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expect([int(row["size_bytes"]) for row in rows] == sizes, f"{rows}")
    expect(all(float(row["out_of_place_time_us"]) > 0 and row["in_place_wrong"] == "0" for row in rows), f"{rows}")


def types_and_operations(folder):
    document, _ = perf_json(folder, "-b", "4K", "-e", "4K", "-n", "1", "-w", "0", "-d", "all", "-o", "all")
    cases = {(row["dtype"], row["op"]) for row in document["rows"]}
    expect(len(cases) == 134, f"{len(cases)} of 134 pairs of a type and an operation that serves it")
    document, _ = perf_json(folder, "-b", "64", "-e", "64", "-n", "1", "-d", "half,BFLOAT16,double,fp32,char", "-o", "prod,AVG")
    expect([row["dtype"] for row in document["rows"][::2]] == ["fp16", "bf16", "fp64", "fp32", "int8"], "names of types")


def algorithms_and_refusals(folder):
    status, out, _ = perf("--list-algorithms")
    names = [line.split()[0] for line in out.splitlines() if line.strip()]
    expect(status == 0 and {"ring", "one_shot", "hierarchical_ring"} <= set(names), f"{out}")
    document, _ = perf_json(folder, "-b", "1K", "-e", "1K", "-n", "2", "--algo", "all", ranks=4, UMBEL_NODES="2")
    check_schema(document)
    expect([row["algorithm"] for row in document["rows"]] == names, "a row for each algorithm, in order")
    refused = [row for row in document["rows"] if row["reason"]]
    expect({"one_shot", "two_shot"} <= {row["algorithm"] for row in refused}, f"{[row['algorithm'] for row in refused]}")
    for row in refused:
        expect(all(value is None for timing in (row["out_of_place"], row["in_place"]) for value in timing.values()), f"{row}")
    document, _ = perf_json(folder, "-b", "1K", "-e", "1K", "-n", "2", UMBEL_ALGORITHM="central")
    expect(document["rows"][0]["algorithm"] == "central", "UMBEL_ALGORITHM")


def named_algorithm_that_serves_nothing(folder):
    for flags, changes in ((["--algo", "hierarchical_ring"], {}), ([], {"UMBEL_ALGORITHM": "hierarchical_ring"}),
                           (["--algo", "ring,hierarchical_ring,all"], {})):
        path = pathlib.Path(folder) / "refused.json"
        status, out, err = perf("-b", "64", "-e", "128", "-f", "2", "-n", "1", "-w", "0", "--json", path, *flags, **changes)
        expect(status == 2, f"{flags} {changes}: status {status}, not 2\n{out}\n{err}")
        expect_in("hierarchical_ring was named, and could not serve any row: ", err)
        expect(err.count("was named") == 1, err)
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        expect(any("node" in (row["reason"] or "") for row in rows if row["algorithm"] == "hierarchical_ring"), f"{rows}")
        path.unlink()


def too_much_memory_is_refused(_):
    status, out, err = perf("-b", "1000000G", "-e", "1000000G")
    expect(status == 3, f"status {status}, not 3\n{out}\n{err}")
    for part in ("not enough memory: 4000000.0G are needed", "the buffers of 2 ranks here, for calls of 1000000.0G", "are available",
                 "Lower -e to "):
        expect_in(part, err)
    expect(err.count("not enough memory") == 1, err)


def cpu_time_says_so(_):
    status, out, err = perf("-b", "8", "-e", "8", "-n", "1", "-C", "1")
    expect(status == 0, err)
    expect_in("CPU time of the calling thread", out)


def limit_says_where_it_comes_from(_):
    status, out, _ = perf("-b", "8", "-e", "8", "-n", "1")
    expect(status == 0, out)
    expect_in("GB/s is possible: the speed of copies in a core's cache", out)
    status, out, _ = perf("-b", "8", "-e", "8", "-n", "1", UMBEL_NODES="2")
    expect(status == 0 and "# the links carry a busbw of " in out and "CPU time" not in out, out)


def peer(folder):
    document, out = perf_json(folder, "-b", "64K", "-e", "64K", "-n", "5", "-d", "float,half", "-o", "sum,avg", "--peer", "mpi")
    check_schema(document)
    for row in document["rows"]:
        lacking = row["dtype"] == "fp16" or row["op"] == "avg"
        expect("MPI" in row["peer"]["name"], f"{row['peer']}")
        if lacking:
            expect(row["peer"]["ratio"] is None and row["peer"]["time_us"] is None and "MPI has no" in row["reason"], f"{row}")
        else:
            ratio = row["peer"]["time_us"] / row["out_of_place"]["time_us"]
            expect(abs(row["peer"]["ratio"] / ratio - 1) < 1e-6 and row["reason"] is None, f"{row}")
    expect_in("ratio", out)


def unchecked_is_null(folder):
    document, out = perf_json(folder, "-b", "64", "-e", "64", "-c", "0")
    expect(document["rows"][0]["out_of_place"]["wrong"] is None, "-c 0")
    expect_in("not checked", out)


def small_and_empty(folder):
    document, _ = perf_json(folder, "-b", "0", "-e", "16", "-f", "2", "-n", "2", ranks=3)
    expect([row["count"] for row in document["rows"]] == [0, 1, 2, 4], f"{[row['count'] for row in document['rows']]}")
    document, _ = perf_json(folder, "-b", "1.5K", "-e", "1.5K", "-n", "2", "-N", "2", ranks=1)
    expect([row["size_bytes"] for row in document["rows"]] == [1536, 1536], "cycles, one rank")


def refused(flags, *parts, ranks=2):
    status, out, err = perf(*flags, ranks=ranks)
    expect(status == 2, f"{flags}: status {status}, not 2\n{out}\n{err}")
    for part in parts:
        expect_in(part, err)
    # said once, by rank 0
    expect(err.count(parts[0]) == 1, f"said {err.count(parts[0])} times:\n{err}")


def bad_flags(folder):
    refused(["--no-such-flag"], "--no-such-flag")
    refused(["-b", "8Q"], "-b 8Q: not a size")
    refused(["-e", "-1"], "not a size")
    refused(["-b", "1M", "-e", "1K"], "-b 1M is more than -e 1K")
    refused(["-d", "quad"], "-d quad", "fp32")
    refused(["-o", "xor"], "-o xor", "avg")
    refused(["-d", "float", "-o", "band"], "-d float -o band: band does not serve fp32")
    refused(["-n", "0"], "-n 0")
    refused(["-n", "many"], "-n many")
    refused(["-f", "0"], "-f 0")
    refused(["-i", "0"], "-i 0")
    refused(["--algo", "magic"], "--algo magic", "ring")
    refused(["--peer", "nccl"], "--peer nccl")
    refused(["--json", f"{folder}/no/such/folder.json"], "cannot write")
    refused(["-r", "9"], "-r 9")


def one_process_is_one_rank(_):
    refused(["-g", "2", "-b", "8", "-t", "2"], "-g 2", f"mpirun -n 8 {PERF} -b 8\n")
    status, out, err = perf("-g", "1", "-t", "1", "-b", "8", "-e", "8", "-n", "1")
    expect(status == 0, err)


def lone_ranks_are_refused(_):
    for changes, says in (({"OMPI_COMM_WORLD_SIZE": 4}, "OMPI_COMM_WORLD_SIZE=4"), ({"PMI_SIZE": 2}, "PMI_SIZE=2"),
                          ({"SLURM_STEP_NUM_TASKS": 3}, "SLURM_STEP_NUM_TASKS=3")):
        for command in ([PERF, "-b", "8", "-e", "8"], [INFO]):
            status, out, err = run(command, **changes)
            expect(status == 3, f"{command} {changes}: status {status}\n{out}\n{err}")
            expect_in(says, err)
    # mpirun's own word counts before Slurm's: one rank of mpirun inside a larger step is meant so
    status, out, err = perf("-b", "8", "-e", "8", "-n", "1", ranks=1, SLURM_STEP_NUM_TASKS=3)
    expect(status == 0, f"{out}\n{err}")


def settings_that_do_not_fit(_):
    for value in ("3", "0,1,0", "x", "0/0,1", "-1", "0"):
        status, out, err = perf("-b", "8", "-e", "8", ranks=2, UMBEL_NODES=value)
        expect(status == 2, f"UMBEL_NODES={value}: status {status}\n{out}\n{err}")
        expect_in("UMBEL_NODES", err)
    status, out, err = perf("-b", "8", "-e", "8", UMBEL_TIMEOUT_S="soon")
    expect(status == 2, f"UMBEL_TIMEOUT_S=soon: status {status}\n{err}")
    expect_in("UMBEL_TIMEOUT_S=soon", err)
    status, out, err = perf("-b", "8", "-e", "8", UMBEL_ALGORITHM="magic")
    expect(status == 2, f"UMBEL_ALGORITHM=magic: status {status}\n{err}")
    expect_in("magic", err)


def the_planner_reads_the_file(folder):
    document, _ = perf_json(folder, "-b", "1K", "-e", "1K", "-n", "3", "--algo", "ring", ranks=3, UMBEL_NODES="0,1,0")
    expect(document["placement"] == "0,1,0", document["placement"])
    status, out, err = run([PLAN, "simulate", "--measured", pathlib.Path(folder) / "out put.json"])
    expect(status == 0, f"status {status}\n{out}\n{err}")
    expect_in("all_reduce on 3 ranks of 2 nodes, by the figures that were measured with them", out)
    expect(re.search(r"median absolute error of 1 row: predicted [0-9.]+%, simulated [0-9.]+%", out), out)


def unknown_variable_warns_once(_):
    status, out, err = perf("-b", "8", "-e", "8", "-n", "2", ranks=3, UMBEL_TIMEOUTS="5")
    expect(status == 0, f"{out}\n{err}")
    expect(err.count("UMBEL_TIMEOUTS") == 1, f"one warning expected:\n{err}")
    expect_in("UMBEL_TIMEOUT_S", err)


def info_says_everything(_):
    status, out, err = run([MPIRUN, "-n", "3", INFO], UMBEL_NODES="2")
    expect(status == 0, err)
    for part in ("version", "revision", "ucx", "hwloc", "MPI", "3 ranks on 2 nodes", "NUMA", "cache", "GPU", "none", "CMA",
                 "window", "UCX", "UMBEL_NODES = 2", "UMBEL_TIMEOUT_S = 300   default 300"):
        expect_in(part, out)
    status, out, err = run([INFO, "--json"])
    expect(status == 0, err)
    document = json.loads(out)
    described = {variable["name"]: variable for variable in document["ranks"][0]["variables"]}
    expect(len(described) >= 10 and all(v["meaning"] and "default" in v for v in described.values()), f"{described}")
    status, out, err = run([INFO, "--nonsense"])
    expect(status == 2, f"status {status}")
    status, out, err = run([INFO], UMBEL_DEBUG="loud")
    expect(status == 2, f"status {status}")
    expect_in("UMBEL_DEBUG=loud", err)


main([schema_and_figures, registered_buffers, table_and_csv, types_and_operations, algorithms_and_refusals,
      named_algorithm_that_serves_nothing, too_much_memory_is_refused, cpu_time_says_so, limit_says_where_it_comes_from, peer, unchecked_is_null, small_and_empty,
      bad_flags, one_process_is_one_rank, lone_ranks_are_refused, settings_that_do_not_fit, the_planner_reads_the_file,
      unknown_variable_warns_once,
      info_says_everything])
