# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""From the lines of the launches to cases of a comparison: medians over the turns, ratios within each launch, shares of the limit."""
import collections
import itertools
import math
import statistics

BEHIND = 0.95
FALLS = 0.8  # of the time of the next smaller size
# A collective, and two that do the same one after the other: of the same size, as sizes are counted here.
COMPOSED = {"all_reduce": ("reduce", "broadcast"), "all_gather": ("gather", "broadcast")}


class Turns:
    """All that was measured, by layout, collective and size."""

    def __init__(self):
        self._lines = collections.defaultdict(list)  # key -> [(turn, launch name, scores by name)]
        self.wrong = 0

    def add(self, layout, turn, launch, line):
        scores = {score["name"]: score for score in line["scores"]}
        self.wrong += sum(score.get("wrong", 0) for score in scores.values())
        self._lines[layout.name, line["collective"], line["size_bytes"]].append((turn, launch.name, scores))

    def of(self, layout):
        """[((layout, collective, size), lines)]"""
        return [(key, lines) for key, lines in self._lines.items() if key[0] == layout.name]


def case(key, lines, limit_s):
    """One entry of the JSON's cases."""
    layout, collective, size = key
    launches = [one for one in lines if "umbel" in one[2]]
    own = [scores["umbel"] for _, _, scores in launches]
    registered = [scores["umbel_registered"] for _, _, scores in lines if "umbel_registered" in scores]
    ratios = collections.defaultdict(list)  # peer -> [(turn, ratio)]
    peers = collections.defaultdict(list)
    for turn, _, scores in launches:
        for name, score in scores.items():
            if name.startswith("umbel") or "p50_us" not in score:
                continue
            ratios[name].append((turn, score["p50_us"] / scores["umbel"]["p50_us"]))
            peers[name].append(score)
    ratio_of = {name: statistics.median(r for _, r in values) for name, values in ratios.items()}
    best = min(ratio_of, key=ratio_of.get)
    umbel_us = _median(own, "p50_us")
    turns = sorted({turn for turn, _, _ in launches})
    worst_of_turns = [min(r for values in ratios.values() for t, r in values if t == turn) for turn in turns]
    behind = sum(ratio < BEHIND for ratio in worst_of_turns)
    result = {
        "layout": layout, "collective": collective, "size_bytes": size,
        "umbel_us": umbel_us, "umbel_p99_us": _median(own, "p99_us"),
        "iterations": min(score["iterations"] for score in own),
        "algorithm": collections.Counter(score["algorithm"] for score in own).most_common(1)[0][0],
        "predicted_us": _median(own, "predicted_us"),
        "peers": {name: _median(scores, "p50_us") for name, scores in peers.items()},
        "peers_p99_us": {name: _median(scores, "p99_us") for name, scores in peers.items()},
        "ratios": ratio_of, "best_peer": best, "ratio": ratio_of[best], "ratio_of_turns": worst_of_turns,
        "behind": behind * 3 >= 2 * len(turns),
        "limit_us": limit_s * 1e6, "share_of_limit": limit_s * 1e6 / umbel_us,
    }
    if registered:
        result["umbel_registered_us"] = _median(registered, "p50_us")
        result["share_of_limit_registered"] = limit_s * 1e6 / result["umbel_registered_us"]
    return result


def curves(cases):
    """Of one collective's cases, in order of size: each library's times, in µs, NaN where there is none."""
    lines = {"umbel": [case["umbel_us"] for case in cases],
             "umbel_registered": [case.get("umbel_registered_us", math.nan) for case in cases]}
    for name in dict.fromkeys(name for case in cases for name in case["peers"]):
        lines[name] = [case["peers"].get(name, math.nan) for case in cases]
    return {name: times for name, times in lines.items() if not all(map(math.isnan, times))}


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def cliffs(cases):
    """Where a larger call takes less time than a smaller one, by more than noise, and where a collective is behind two others
    that come to the same (of those that were measured)."""
    time_of = {(case["layout"], case["collective"], case["size_bytes"]): case["umbel_us"] for case in cases}
    found = []

    def note(key, than, than_us):
        layout, collective, size = key
        found.append({"layout": layout, "collective": collective, "size_bytes": size, "umbel_us": time_of[key], "than": than, "than_us": than_us})

    keys = sorted(time_of)
    for smaller, larger in itertools.pairwise(keys):
        if smaller[:2] == larger[:2] and time_of[larger] < FALLS * time_of[smaller]:
            note(smaller, f"{larger[2]} bytes", time_of[larger])
    for key in keys:
        layout, collective, size = key
        parts = [time_of.get((layout, part, size)) for part in COMPOSED.get(collective, ())]
        if parts and None not in parts and sum(parts) < BEHIND * time_of[key]:
            note(key, " + ".join(COMPOSED[collective]), sum(parts))
    return found


def summary(cases):
    """What the whole comparison comes to."""
    ranked = [case for case in cases if case["size_bytes"] > 65536 and case["predicted_us"]]
    return {
        "cases": len(cases),
        "geometric_mean_best_peer": geometric_mean(case["ratio"] for case in cases),
        "geometric_mean_openmpi": geometric_mean(case["ratios"]["openmpi"] for case in cases if "openmpi" in case["ratios"]),
        "behind": [f"{case['layout']} {case['collective']} {case['size_bytes']}" for case in cases if case["behind"]],
        "cliffs": cliffs(cases),
        "p99_not_worse": sum(case["umbel_p99_us"] <= case["peers_p99_us"][case["best_peer"]] for case in cases),
        "prediction_error_above_64K": statistics.median(
            abs(case["predicted_us"] / case["umbel_us"] - 1) for case in ranked) if ranked else None,
    }


def _median(scores, key):
    return statistics.median(score[key] for score in scores)
