# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""What scripts/compare does without --algorithms: Umbel beside the other libraries, held against the machine's limits."""
import limits
import peers
import results


class Comparison:
    name = "peers"

    def __init__(self, optional_launches=()):
        self._optional = list(optional_launches)

    def launches(self, layout):
        return peers.LAUNCHES + self._optional + ([peers.REGISTERED] if layout.nodes == 1 else [])

    def limits(self, layout):
        """What this machine, and the links of the layout's nodes, allow now."""
        return limits.Limits(layout)

    def rows(self, layout, turns, allowed):
        return [results.case(key, lines, allowed.least_time(key[1], key[2])) for key, lines in turns.of(layout)]

    def print_table(self, rows):
        print(f"{'collective':<15}{'size':>10}{'Umbel us':>11}{'p99':>10}  {'algorithm':<22}{'best peer':<19}{'us':>10}{'p99':>10}{'ratio':>7}{'share':>7}{'reg.':>7}")
        for case in rows:
            best = case["best_peer"]
            registered = f"{case['share_of_limit_registered']:>7.2f}" if "share_of_limit_registered" in case else ""
            print(f"{case['collective']:<15}{case['size_bytes']:>10}{case['umbel_us']:>11.2f}{case['umbel_p99_us']:>10.1f}  {case['algorithm']:<22}"
                  f"{peers.TITLES[best]:<19}{case['peers'][best]:>10.2f}{case['peers_p99_us'][best]:>10.1f}{case['ratio']:>7.2f}{case['share_of_limit']:>7.2f}"
                  f"{registered}"
                  f"{'  behind' if case['behind'] else ''}")

    def summary(self, cases):
        return results.summary(cases)

    def print_summary(self, summary):
        print(f"\n{summary['cases']} cases; geometric mean of best peer / Umbel: {summary['geometric_mean_best_peer']:.2f}; "
              f"Open MPI / Umbel: {summary['geometric_mean_openmpi']:.2f}; behind in {len(summary['behind'])}; "
              f"p99 not worse than the best peer's in {summary['p99_not_worse']}")
        if summary["prediction_error_above_64K"] is not None:
            print(f"predicted time against measured, above 64 KB: {100 * summary['prediction_error_above_64K']:.0f} % off (median)")
        print(f"cliffs: {len(summary['cliffs'])}{':' if summary['cliffs'] else ''}")
        for cliff in summary["cliffs"]:
            print(f"  {cliff['layout']} {cliff['collective']} of {cliff['size_bytes']} bytes: {cliff['umbel_us']:.2f} us, {cliff['than']}: {cliff['than_us']:.2f} us")
