# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""What scripts/compare makes of the launches' lines, and the limits that it holds them against."""
import math
import pathlib
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "scripts/lib/compare")]
from harness import expect, main  # noqa: E402
import choices  # noqa: E402
import launching  # noqa: E402
import layouts  # noqa: E402
import limits  # noqa: E402
import measurement  # noqa: E402
import peers  # noqa: E402
import results  # noqa: E402
import wheels  # noqa: E402

HOST = layouts.Layout("1x4", 4)
NODES = layouts.Layout("4x2", 2, nodes=4)


def score(name, p50, p99=None, wrong=0):
    return {"name": name, "p50_us": p50, "p99_us": p99 or p50, "iterations": 5, "wrong": wrong,
            **({"algorithm": "ring", "predicted_us": 8} if name.startswith("umbel") else {})}


def line(*scores):
    return {"collective": "all_reduce", "size_bytes": 1 << 20, "count": 1 << 18, "scores": list(scores)}


def turns_of(*launches):
    turns = results.Turns()
    for turn, name, scores in launches:
        turns.add(HOST, turn, types.SimpleNamespace(name=name), line(*scores))
    return turns


def case_of(*launches):
    ((key, lines),) = turns_of(*launches).of(HOST)
    return results.case(key, lines, limit_s=5e-6)


def judged(*launches):
    (row,) = choices.Choices().rows(HOST, turns_of(*launches), None)
    return row


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


def ratios_are_taken_within_a_launch(_):
    # the second launch ran on a machine that was twice as slow: its peer is no slower for that
    case = case_of((0, "one", [score("umbel", 10), score("openmpi", 20)]), (0, "two", [score("umbel", 20), score("mpich", 30)]))
    expect(case["ratios"] == {"openmpi": 2, "mpich": 1.5}, f"{case}")
    expect((case["best_peer"], case["ratio"]) == ("mpich", 1.5), f"{case}")
    expect(case["umbel_us"] == 15 and case["peers"] == {"openmpi": 20, "mpich": 30}, f"{case}")
    expect(near(case["share_of_limit"], 5 / 15) and case["limit_us"] == 5, f"{case}")
    expect(case["algorithm"] == "ring" and not case["behind"], f"{case}")


def behind_is_two_turns_of_three(_):
    def turns(*peers):
        return [(turn, "one", [score("umbel", 100), score("openmpi", peer)]) for turn, peer in enumerate(peers)]
    for peers, behind in (((94, 94, 300), True), ((94, 96, 96), False), ((96, 96, 96), False), ((94,), True), ((10, 94, 94), True)):
        case = case_of(*turns(*peers))
        expect(case["behind"] == behind, f"{peers}: {case}")
    case = case_of(*turns(50, 200, 300))
    expect(case["ratio"] == 2, f"the median of the turns: {case}")


def what_a_peer_lacks_is_left_out(_):
    case = case_of((0, "one", [score("umbel", 10), score("openmpi", 20), {"name": "gloo", "lacks": "none"}]))
    expect(list(case["peers"]) == ["openmpi"], f"{case}")


def the_automatic_choice_is_held_against_the_best(_):
    lacking = {"name": "umbel:central", "lacks": "two ranks"}
    row = judged((0, "algorithms", [score("umbel:ring", 30), score("umbel:tree", 10), lacking, score("umbel", 12)]))
    expect((row["algorithm"], row["automatic_us"], row["best"], row["best_us"]) == ("ring", 12, "tree", 10), f"{row}")
    expect(near(row["ratio"], 1.2) and not row["close"], f"{row}")
    expect(row["forced_us"] == {"ring": 30, "tree": 10} and row["refused"] == {"central": "two ranks"}, f"{row}")
    row = judged((0, "algorithms", [score("umbel:ring", 30), score("umbel:tree", 10), score("umbel", 10.9)]))
    expect(near(row["ratio"], 1.09) and row["close"], f"{row}")


def what_was_chosen_is_as_good_as_the_same_forced(_):
    row = judged((0, "algorithms", [score("umbel:ring", 5), score("umbel:tree", 11), score("umbel", 10)]))
    expect((row["best"], row["ratio"]) == ("ring", 1), f"the chosen one, forced, was twice as fast by chance: {row}")


def choices_are_judged_within_each_turn(_):
    # in the second turn the machine was ten times as slow; in the third it was tree that was chosen
    chose_tree = [score("umbel:ring", 30), score("umbel:tree", 20), {**score("umbel", 21), "algorithm": "tree"}]
    row = judged((0, "algorithms", [score("umbel:ring", 10), score("umbel:tree", 5), score("umbel", 10)]),
                 (1, "algorithms", [score("umbel:ring", 100), score("umbel:tree", 80), score("umbel", 100)]), (2, "algorithms", chose_tree))
    expect((row["algorithm"], row["best"]) == ("ring", "tree") and near(row["ratio"], 1 / 0.8), f"{row}")


def the_summary_of_choices(_):
    good = judged((0, "algorithms", [score("umbel:ring", 10), score("umbel:tree", 11), score("umbel", 10)]))
    bad = judged((0, "algorithms", [score("umbel:ring", 10), score("umbel:tree", 5), score("umbel", 10)]))
    worse = judged((0, "algorithms", [score("umbel:ring", 10), score("umbel:tree", 2), score("umbel", 10)]))
    summary = choices.summary([good, bad, worse, good])
    expect((summary["cases"], summary["close"], summary["share_close"]) == (4, 2, 0.5), f"{summary}")
    expect([case["ratio"] for case in summary["worst"]] == [5, 2], f"{summary}")
    expect(summary["worst"][0]["best"] == "tree" and summary["worst"][0]["algorithm"] == "ring", f"{summary}")


def registered_buffers_are_a_figure_of_their_own(_):
    case = case_of((0, "one", [score("umbel", 10), score("openmpi", 20)]), (0, "two", [score("umbel_registered", 8)]))
    expect(case["umbel_us"] == 10 and case["umbel_registered_us"] == 8 and near(case["share_of_limit_registered"], 5 / 8), f"{case}")
    expect(list(case["peers"]) == ["openmpi"] and case["ratio"] == 2, f"{case}")


def wrong_elements_are_counted(_):
    turns = turns_of((0, "one", [score("umbel", 10, wrong=2), score("openmpi", 20, wrong=3)]))
    expect(turns.wrong == 5, f"{turns.wrong}")


def the_summary(_):
    first = case_of((0, "one", [score("umbel", 10, p99=30), score("openmpi", 20, p99=25)]))
    second = case_of((0, "one", [score("umbel", 10), score("openmpi", 5)]))
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
    case = case_of((0, "one", [score("umbel", 10), score("openmpi", 20)]))
    expect(results.summary([case, dict(case, size_bytes=2 << 20, umbel_us=1)])["cliffs"] ==
           [{"layout": "1x4", "collective": "all_reduce", "size_bytes": 1 << 20, "umbel_us": 10, "than": f"{2 << 20} bytes", "than_us": 1}], "one")
    expect(results.summary([case])["cliffs"] == [], "none")


def curves_have_gaps_and_registered_buffers(_):
    with_peer = case_of((0, "one", [score("umbel", 10), score("openmpi", 20), score("gloo", 40)]))
    without = case_of((0, "one", [score("umbel", 11), score("openmpi", 22)]), (0, "two", [score("umbel_registered", 8)]))
    curves = results.curves([with_peer, without])
    expect(curves["umbel"] == [10, 11] and curves["openmpi"] == [20, 22], f"{curves}")
    expect(curves["gloo"][0] == 40 and math.isnan(curves["gloo"][1]), f"{curves}")
    expect(math.isnan(curves["umbel_registered"][0]) and curves["umbel_registered"][1] == 8, f"{curves}")
    expect("umbel_registered" not in results.curves([with_peer]), "no line where there is nothing to draw")


def commands_of_each_mpi(_):
    two, five = layouts.Layout("1x2", 2), launching.Mpi("openmpi", pathlib.Path("/p"), pathlib.Path("/five/mpirun"))
    many = layouts.Layout("many", 10000)
    intel = launching.Mpi("intel", pathlib.Path("/p"), pathlib.Path("/i/mpiexec"))
    mpich = launching.Mpi("mpich", pathlib.Path("/p"), pathlib.Path("/m/mpiexec"), (pathlib.Path("/m/lib"),))
    on_host = " ".join(launching.command(many, five, ["--x"]))
    expect(on_host == "/five/mpirun --oversubscribe --bind-to none -n 10000 /p --x", on_host)
    expect(launching.command(two, intel, ["--x"]) == ["/i/mpiexec", "-n", "2", "/p", "--x"], f"{launching.command(two, intel, ['--x'])}")
    crowded = " ".join(launching.command(many, mpich, []))
    expect("LD_PRELOAD=libumbel_mpich_yield.so" in crowded and ":/m/lib " in crowded, f"MPICH yields, with its own libraries: {crowded}")
    on_nodes = " ".join(launching.command(NODES, five, ["--x"]))
    expect("--mpi openmpi --mpirun /five/mpirun --ppn 2 -- /p --x" in on_nodes, on_nodes)
    debian = " ".join(launching.command(NODES, launching.OPENMPI, []))
    expect("--mpirun" not in debian and "--mpi openmpi" in debian, debian)


def what_cannot_be_installed_or_built_is_said(_):
    ran = []

    def run(command, **_):
        ran.append(command)
        if "mpich==5.*" in command or "umbel_compare_intel" in command:
            raise subprocess.CalledProcessError(1, command)
    launches, absent = wheels.prepare(None, lambda _: None, run)
    expect([launch.name for launch in launches] == ["openmpi5"] and launches[0].optional, f"{launches}")
    expect(absent == {"MPICH 5": "installing mpich==5.* failed", "Intel MPI": "building umbel_compare_intel failed",
                      "oneCCL": "building umbel_compare_intel failed"}, f"{absent}")
    (folders,) = {word for command in ran for word in command if word.startswith("-DUMBEL_PEER_MPIS=")}
    expect("openmpi5=" in folders and "intel=" in folders and "mpich5=" not in folders, folders)


class Bar:
    total = 0

    def update(self, n=1):
        self.total += n

    def set_description(self, _):
        pass


def an_optional_launch_may_fail(_):
    optional = peers.Launch(launching.OPENMPI, "mpich5", optional=True)
    tried = []

    def run(_layout, launch, _arguments, _timeout, take):
        tried.append(launch.name)
        take(line(score("umbel", 10), score(launch.name, 20)))
        if launch in failing:
            raise peers.Failed(f"{launch.name} went away")
    options = types.SimpleNamespace(collectives=["all_reduce", "barrier"], sizes="8,1M", seconds=1, turns=2, layouts=[HOST])
    mode = types.SimpleNamespace(launches=lambda _: [peers.LAUNCHES[0], optional], limits=lambda _: None, rows=lambda *_: "rows")
    real, peers.run = peers.run, run
    try:
        failing, bar = [optional], Bar()
        with tempfile.TemporaryFile("w+") as log:
            done = measurement.Measurement(options, mode, log, bar)
            expect(done.run(HOST) == "rows", "it goes on")
            log.seek(0)
            expect("mpich5 went away" in log.read(), "the log has what it said")
        expect(done.failed == {"1x4": {"mpich5": "after 1 cases: mpich5 went away"}}, f"{done.failed}")
        expect(tried == ["openmpi", "mpich5", "openmpi"], f"not tried again: {tried}")
        expect(bar.total == measurement.lines(options, mode) == 12, f"the bar comes to its end: {bar.total}")
        failing = [peers.LAUNCHES[0]]
        try:
            measurement.Measurement(options, mode, None, Bar()).run(HOST)
        except peers.Failed:
            return
        expect(False, "a launch that is not optional must not fail")
    finally:
        peers.run = real


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


main([ratios_are_taken_within_a_launch, behind_is_two_turns_of_three, what_a_peer_lacks_is_left_out,
      the_automatic_choice_is_held_against_the_best, what_was_chosen_is_as_good_as_the_same_forced, choices_are_judged_within_each_turn,
      the_summary_of_choices, registered_buffers_are_a_figure_of_their_own, curves_have_gaps_and_registered_buffers,
      commands_of_each_mpi, what_cannot_be_installed_or_built_is_said, an_optional_launch_may_fail,
      wrong_elements_are_counted, the_summary, a_cliff_is_a_larger_call_that_takes_less,
      a_cliff_is_a_collective_behind_two_that_come_to_the_same, the_summary_names_cliffs, limits_inside_a_node, limits_between_nodes, rates_lie_between_those_measured])
