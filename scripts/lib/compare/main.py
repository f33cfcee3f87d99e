# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""scripts/compare's program: starts the launches, gathers their lines, prints the table."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

from tqdm import tqdm

import layouts
import limits
import peers
import picture
import results

COLLECTIVES = ["all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter", "all_to_all", "gather", "barrier"]
QUICK_COLLECTIVES = [name for name in COLLECTIVES if name != "gather"]  # which is here for the cliffs
QUICK_SIZES = "8,4K,64K,1M,4M"
FULL_SIZES = "8,64,256,1K,4K,16K,64K,256K,1M,4M,16M,64M"
LAUNCH_TIMEOUT_S = 1800


def parse_arguments():
    names = [layout.name for layout in layouts.LAYOUTS]
    parser = argparse.ArgumentParser(
        prog="scripts/compare", description="Umbel beside Open MPI (as it comes, with HAN, over UCX), MPICH and Gloo: times, ratios, shares of "
        "the limit that memory and links set. The nodes are those of scripts/cluster, which needs root.")
    parser.add_argument("--quick", action="store_true", help="five sizes, one turn, five minutes (else twelve sizes and three turns: hours)")
    parser.add_argument("--layouts", default=",".join(names), help=f"comma-separated, of {', '.join(names)}")
    parser.add_argument("--collectives", help=f"comma-separated, of {', '.join(COLLECTIVES)} (all; without gather if quick)")
    parser.add_argument("--sizes", help="comma-separated: 8,64K,4M")
    parser.add_argument("--turns", type=int, help="launches of each kind")
    parser.add_argument("--seconds", type=float, help="for each library in each case of each turn")
    parser.add_argument("--algorithms", action="store_true", help="also each of Umbel's algorithms, forced, beside its own choice")
    parser.add_argument("--json", metavar="FILE", help="all figures, with where they come from")
    parser.add_argument("--pictures", metavar="FOLDER", help="an SVG for each layout")
    options = parser.parse_args()
    options.layouts = _listed(parser, "layout", options.layouts, names)
    if options.collectives is None:
        options.collectives = QUICK_COLLECTIVES if options.quick else COLLECTIVES
    else:
        options.collectives = _listed(parser, "collective", options.collectives, COLLECTIVES)
    options.layouts = [layout for layout in layouts.LAYOUTS if layout.name in options.layouts]
    options.sizes = options.sizes or (QUICK_SIZES if options.quick else FULL_SIZES)
    options.turns = options.turns or (1 if options.quick else 3)
    options.seconds = options.seconds or (0.1 if options.quick else 0.25)
    if any(layout.nodes > 1 for layout in options.layouts) and os.geteuid() != 0:
        parser.error("layouts with nodes need root; on one host: --layouts 1x2,1x4,1x8")
    return options


def _listed(parser, what, text, known):
    names = text.split(",")
    for name in names:
        if name not in known:
            parser.error(f'no {what} "{name}"; there are {", ".join(known)}')
    return names


def provenance(options):
    git = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=layouts.ROOT, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), "")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "git": git, "cpu": model,
        "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(), "turns": options.turns, "seconds": options.seconds,
        "peers_at_their_best": "malloc keeps its memory; with more ranks than cores Open MPI yields (mpi_yield_when_idle), MPICH by a preloaded sched_yield",
    }


def launches_on(layout):
    return peers.LAUNCHES + ([peers.REGISTERED] if layout.nodes == 1 else [])


def measure_layout(options, layout, memory, cases, bar, log):
    """@returns the layout's link, None on one host; and what each launch said of itself."""
    said = {}
    with layouts.up(layout, log):
        link = limits.Link(layout) if layout.nodes > 1 else None
        arguments = ["--collectives", ",".join(options.collectives), "--sizes", options.sizes, "--seconds", str(options.seconds)]
        for turn in range(options.turns):
            for launch in launches_on(layout):
                extra = ["--algorithms"] if options.algorithms and launch is peers.LAUNCHES[0] else []

                def on_line(line, turn=turn, launch=launch):
                    if "collective" not in line:
                        said[launch.name] = line
                        return
                    cases.add(layout, turn, launch, line)
                    bar.update()
                bar.set_description(f"{layout.name}, {peers.TITLES[launch.name]}")
                peers.run(layout, launch, [*arguments, *extra], LAUNCH_TIMEOUT_S, on_line)
    return link, said


def print_table(layout, cases):
    print(f"\n{layout.describe()}\n")
    print(f"{'collective':<15}{'size':>10}{'Umbel us':>11}{'p99':>10}  {'algorithm':<22}{'best peer':<19}{'us':>10}{'p99':>10}{'ratio':>7}{'share':>7}{'reg.':>7}")
    for case in cases:
        best = case["best_peer"]
        registered = f"{case['share_of_limit_registered']:>7.2f}" if "share_of_limit_registered" in case else ""
        print(f"{case['collective']:<15}{case['size_bytes']:>10}{case['umbel_us']:>11.2f}{case['umbel_p99_us']:>10.1f}  {case['algorithm']:<22}"
              f"{peers.TITLES[best]:<19}{case['peers'][best]:>10.2f}{case['peers_p99_us'][best]:>10.1f}{case['ratio']:>7.2f}{case['share_of_limit']:>7.2f}"
              f"{registered}"
              f"{'  behind' if case['behind'] else ''}")


def print_summary(summary):
    print(f"\n{summary['cases']} cases; geometric mean of best peer / Umbel: {summary['geometric_mean_best_peer']:.2f}; "
          f"Open MPI / Umbel: {summary['geometric_mean_openmpi']:.2f}; behind in {len(summary['behind'])}; "
          f"p99 not worse than the best peer's in {summary['p99_not_worse']}")
    if summary["prediction_error_above_64K"] is not None:
        print(f"predicted time against measured, above 64 KB: {100 * summary['prediction_error_above_64K']:.0f} % off (median)")
    if "auto_within_10_percent" in summary:
        print(f"the automatic choice is within 10 % of the best algorithm in {100 * summary['auto_within_10_percent']:.0f} % of the cases")
    print(f"cliffs: {len(summary['cliffs'])}{':' if summary['cliffs'] else ''}")
    for cliff in summary["cliffs"]:
        print(f"  {cliff['layout']} {cliff['collective']} of {cliff['size_bytes']} bytes: {cliff['umbel_us']:.2f} us, {cliff['than']}: {cliff['than_us']:.2f} us")


def main():
    options = parse_arguments()
    cases = results.Cases()
    document = {"schema": 1, "provenance": provenance(options), "limits": {}, "launches": {}, "cases": []}
    data_collectives = [name for name in options.collectives if name != "barrier"]
    lines = len(data_collectives) * len(options.sizes.split(",")) + ("barrier" in options.collectives)
    total = lines * options.turns * sum(len(launches_on(layout)) for layout in options.layouts)
    with open(layouts.ROOT / "build/compare.log", "a", encoding="utf-8") as log, tqdm(total=total, unit="case", disable=None) as bar:
        for layout in options.layouts:
            memory = limits.Memory()
            link, said = measure_layout(options, layout, memory, cases, bar, log)
            document["limits"][layout.name] = {"memory": memory.raw, "link": link and link.raw}
            document["launches"][layout.name] = said
            rows = [cases.case(key, limits.least_time(layout, key[1], key[2], memory, link)) for key in cases.keys() if key[0] == layout.name]
            document["cases"] += rows
            with tqdm.external_write_mode():
                print_table(layout, rows)
    document["summary"] = results.summary(document["cases"])
    print_summary(document["summary"])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if options.pictures:
        pathlib.Path(options.pictures).mkdir(parents=True, exist_ok=True)
        for layout in options.layouts:
            rows = [case for case in document["cases"] if case["layout"] == layout.name]
            picture.draw(layout, rows, pathlib.Path(options.pictures) / f"{layout.name}.svg")
    if cases.wrong:
        print(f"{cases.wrong} elements were wrong", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (peers.Failed, RuntimeError, subprocess.SubprocessError) as error:
        sys.exit(f"scripts/compare: {error}")
