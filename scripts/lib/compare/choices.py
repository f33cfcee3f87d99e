# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""What scripts/compare does with --algorithms: Umbel's automatic choice beside each algorithm that can serve the call,
forced, in one loop."""
import collections
import statistics

import peers

CLOSE = 1.1  # times the best: a choice that is as good as any
WORST = 10  # that many are named


class Choices:
    name = "algorithms"

    def launches(self, _layout):
        return [peers.ALGORITHMS]

    def limits(self, _layout):
        return None

    def rows(self, layout, turns, _allowed):
        return [judge(key, lines) for key, lines in turns.of(layout)]

    def print_table(self, rows):
        print(f"{'collective':<15}{'size':>10}  {'automatic':<24}{'us':>10}  {'best':<24}{'us':>10}{'ratio':>7}{'of':>4}")
        for case in rows:
            print(f"{case['collective']:<15}{case['size_bytes']:>10}  {case['algorithm']:<24}{case['automatic_us']:>10.2f}  "
                  f"{case['best']:<24}{case['best_us']:>10.2f}{case['ratio']:>7.2f}{len(case['forced_us']):>4}{'' if case['close'] else '  off'}")

    def summary(self, cases):
        return summary(cases)

    def print_summary(self, found):
        print(f"\nThe automatic choice is within {100 * (CLOSE - 1):.0f} % of the best algorithm in {found['close']} of {found['cases']} cases "
              f"({100 * found['share_close']:.0f} %). The furthest off:")
        for case in found["worst"]:
            print(f"  {case['layout']} {case['collective']} {case['size_bytes']}: {case['algorithm']}, {case['ratio']:.2f} times {case['best']}")


def judge(key, lines):
    """One case: medians over the turns, ratios within each. Times of one algorithm, chosen and forced, differ by chance
    only: where the best is what was chosen, the ratio is 1."""
    layout, collective, size = key
    relative, forced, refused = collections.defaultdict(list), collections.defaultdict(list), {}
    own = [scores["umbel"] for _, _, scores in lines]
    for _, _, scores in lines:
        for name, score in scores.items():
            if name == "umbel":
                continue
            algorithm = name.removeprefix("umbel:")
            if "lacks" in score:
                refused[algorithm] = score["lacks"]
                continue
            forced[algorithm].append(score["p50_us"])
            same = algorithm == scores["umbel"]["algorithm"]
            relative[algorithm].append(1.0 if same else score["p50_us"] / scores["umbel"]["p50_us"])
    chosen = collections.Counter(score["algorithm"] for score in own).most_common(1)[0][0]
    relative = {algorithm: statistics.median(values) for algorithm, values in relative.items()}
    best = min(relative, key=lambda algorithm: (relative[algorithm], algorithm != chosen))
    forced = {algorithm: statistics.median(values) for algorithm, values in forced.items()}
    ratio = 1 / relative[best]
    return {
        "layout": layout, "collective": collective, "size_bytes": size, "algorithm": chosen,
        "automatic_us": statistics.median(score["p50_us"] for score in own),
        "predicted_us": statistics.median(score["predicted_us"] for score in own),
        "best": best, "best_us": forced[best], "ratio": ratio, "close": ratio <= CLOSE, "forced_us": forced, "refused": refused,
    }


def summary(cases):
    close = sum(case["close"] for case in cases)
    worst = sorted((case for case in cases if not case["close"]), key=lambda case: -case["ratio"])[:WORST]
    named = ("layout", "collective", "size_bytes", "algorithm", "best", "ratio")
    return {"cases": len(cases), "close": close, "share_close": close / len(cases), "worst": [{key: case[key] for key in named} for case in worst]}
