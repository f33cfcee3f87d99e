# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""What scripts/compare makes of the launches' lines, and the limits that it holds them against."""
import pathlib
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "scripts/lib/compare")]
from harness import expect, main  # noqa: E402
import layouts  # noqa: E402
import limits  # noqa: E402
import results  # noqa: E402

HOST = layouts.Layout("1x4", 4)
NODES = layouts.Layout("4x2", 2, nodes=4)


def score(name, p50, p99=None, wrong=0):
    return {"name": name, "p50_us": p50, "p99_us": p99 or p50, "iterations": 5, "wrong": wrong,
            **({"algorithm": "ring", "predicted_us": 8} if name.startswith("umbel") else {})}


def line(*scores):
    return {"collective": "all_reduce", "size_bytes": 1 << 20, "count": 1 << 18, "scores": list(scores)}


def case_of(*launches):
    cases = results.Cases()
    for turn, name, scores in launches:
        cases.add(HOST, turn, types.SimpleNamespace(name=name), line(*scores))
    (key,) = cases.keys()
    return cases, cases.case(key, limit_s=5e-6)


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


def ratios_are_taken_within_a_launch(_):
    # the second launch ran on a machine that was twice as slow: its peer is no slower for that
    _, case = case_of((0, "one", [score("umbel", 10), score("openmpi", 20)]), (0, "two", [score("umbel", 20), score("mpich", 30)]))
    expect(case["ratios"] == {"openmpi": 2, "mpich": 1.5}, f"{case}")
    expect((case["best_peer"], case["ratio"]) == ("mpich", 1.5), f"{case}")
    expect(case["umbel_us"] == 15 and case["peers"] == {"openmpi": 20, "mpich": 30}, f"{case}")
    expect(near(case["share_of_limit"], 5 / 15) and case["limit_us"] == 5, f"{case}")
    expect(case["algorithm"] == "ring" and not case["behind"], f"{case}")


def behind_is_two_turns_of_three(_):
    def turns(*peers):
        return [(turn, "one", [score("umbel", 100), score("openmpi", peer)]) for turn, peer in enumerate(peers)]
    for peers, behind in (((94, 94, 300), True), ((94, 96, 96), False), ((96, 96, 96), False), ((94,), True), ((10, 94, 94), True)):
        _, case = case_of(*turns(*peers))
        expect(case["behind"] == behind, f"{peers}: {case}")
    _, case = case_of(*turns(50, 200, 300))
    expect(case["ratio"] == 2, f"the median of the turns: {case}")


def what_a_peer_lacks_is_left_out(_):
    _, case = case_of((0, "one", [score("umbel", 10), score("openmpi", 20), {"name": "gloo", "lacks": "none"}]))
    expect(list(case["peers"]) == ["openmpi"], f"{case}")


def forced_algorithms_are_no_peers(_):
    _, case = case_of((0, "one", [score("umbel", 11), score("umbel:ring", 9.9), score("umbel:tree", 30), score("openmpi", 20)]))
    expect(case["forced"] == {"ring": 9.9, "tree": 30} and list(case["peers"]) == ["openmpi"], f"{case}")
    expect(results.summary([case])["auto_within_10_percent"] == 0, "11 is above 1.1 times 9.9")
    case["umbel_us"] = 10.8
    expect(results.summary([case])["auto_within_10_percent"] == 1, "10.8 is not")


def registered_buffers_are_a_figure_of_their_own(_):
    _, case = case_of((0, "one", [score("umbel", 10), score("openmpi", 20)]), (0, "two", [score("umbel_registered", 8)]))
    expect(case["umbel_us"] == 10 and case["umbel_registered_us"] == 8 and near(case["share_of_limit_registered"], 5 / 8), f"{case}")
    expect(list(case["peers"]) == ["openmpi"] and case["ratio"] == 2, f"{case}")


def wrong_elements_are_counted(_):
    cases, _ = case_of((0, "one", [score("umbel", 10, wrong=2), score("openmpi", 20, wrong=3)]))
    expect(cases.wrong == 5, f"{cases.wrong}")


def the_summary(_):
    _, first = case_of((0, "one", [score("umbel", 10, p99=30), score("openmpi", 20, p99=25)]))
    _, second = case_of((0, "one", [score("umbel", 10), score("openmpi", 5)]))
    summary = results.summary([first, second])
    expect(near(summary["geometric_mean_best_peer"], 1) and near(summary["geometric_mean_openmpi"], 1), f"{summary}")
    expect(summary["behind"] == ["1x4 all_reduce 1048576"], f"{summary}")
    expect(summary["p99_not_worse"] == 0 and near(summary["prediction_error_above_64K"], 0.2), f"{summary}")


def cliffs_of(**times):
    """times: collective=[(size, us), …]"""
    cases = [{"layout": "1x4", "collective": name, "size_bytes": size, "umbel_us": us} for name, pairs in times.items() for size, us in pairs]
    return [(one["collective"], one["size_bytes"], one["umbel_us"], one["than"], one["than_us"]) for one in results.cliffs(cases)]


def a_cliff_is_a_larger_call_that_takes_less(_):
    expect(cliffs_of(broadcast=[(4096, 100), (8, 10), (65536, 79), (1 << 20, 70)]) == [("broadcast", 4096, 100, "65536 bytes", 79)], "in the order of sizes")
    expect(cliffs_of(broadcast=[(8, 100), (4096, 81)]) == [], "noise")
    expect(cliffs_of(broadcast=[(4096, 100)], reduce=[(8192, 10)]) == [], "another collective")


def a_cliff_is_a_collective_behind_two_that_come_to_the_same(_):
    parts = {"reduce": [(8, 30), (4096, 30)], "broadcast": [(8, 20), (4096, 30)], "gather": [(8, 10)]}
    expect(cliffs_of(**parts, all_reduce=[(8, 60), (4096, 60)]) == [("all_reduce", 8, 60, "reduce + broadcast", 50)], "8 bytes alone")
    expect(cliffs_of(**parts, all_gather=[(8, 32), (4096, 99)]) == [("all_gather", 8, 32, "gather + broadcast", 30)], "there is no gather of 4096 bytes")


def the_summary_names_cliffs(_):
    _, case = case_of((0, "one", [score("umbel", 10), score("openmpi", 20)]))
    expect(results.summary([case, dict(case, size_bytes=2 << 20, umbel_us=1)])["cliffs"] ==
           [{"layout": "1x4", "collective": "all_reduce", "size_bytes": 1 << 20, "umbel_us": 10, "than": f"{2 << 20} bytes", "than_us": 1}], "one")
    expect(results.summary([case])["cliffs"] == [], "none")


class Memory:
    cores = 2
    flag_hop_s = 3e-7

    @staticmethod
    def rate(work, _size):
        return {"copy": 20e9, "add": 10e9}[work]


def limits_inside_a_node(_):
    size, memory = 1 << 20, Memory()
    copies, adds = size / 20e9, size / 10e9
    expected = {"all_reduce": (3 * copies + 3 * adds) / 2, "broadcast": 3 * copies / 2, "reduce": 3 * adds / 2,
                "all_gather": 4 * copies / 2, "reduce_scatter": 3 * adds / 2, "all_to_all": 4 * copies / 2, "gather": copies / 2, "barrier": 3e-7}
    for collective, seconds in expected.items():
        found = limits.least_time(HOST, collective, size, memory, None)
        expect(near(found, seconds), f"{collective}: {found}, not {seconds}")
    expect(limits.least_time(HOST, "reduce", 8, memory, None) == 3e-7, "never below a flag")


def limits_between_nodes(_):
    link = types.SimpleNamespace(bytes_per_s=2e8, latency_s=1e-5)
    size = 1 << 24
    expected = {"all_reduce": 1.5, "all_gather": 0.75, "reduce_scatter": 0.75, "broadcast": 1, "reduce": 1, "all_to_all": 1.5, "gather": 0.75}
    for collective, bytes_per_byte in expected.items():
        found = limits.least_time(NODES, collective, size, Memory(), link)
        expect(near(found, bytes_per_byte * size / 2e8), f"{collective}: {found}")
    expect(near(limits.least_time(NODES, "barrier", 0, Memory(), link), 2e-5), "two steps over the network")


def rates_lie_between_those_measured(_):
    memory = limits.Memory.__new__(limits.Memory)
    memory.raw = {"exchange": [{"bytes": 1 << 10, "copy_bytes_per_s": 10}, {"bytes": 1 << 20, "copy_bytes_per_s": 30}]}
    for size, rate in ((1, 10), (1 << 10, 10), (1 << 15, 20), (1 << 20, 30), (1 << 30, 30)):
        expect(near(memory.rate("copy", size), rate), f"{size}: {memory.rate('copy', size)}")


main([ratios_are_taken_within_a_launch, behind_is_two_turns_of_three, what_a_peer_lacks_is_left_out, forced_algorithms_are_no_peers,
      registered_buffers_are_a_figure_of_their_own,
      wrong_elements_are_counted, the_summary, a_cliff_is_a_larger_call_that_takes_less,
      a_cliff_is_a_collective_behind_two_that_come_to_the_same, the_summary_names_cliffs, limits_inside_a_node, limits_between_nodes, rates_lie_between_those_measured])
