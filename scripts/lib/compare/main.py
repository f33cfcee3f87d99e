# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""scripts/compare's program: starts the launches, gathers their lines, prints the table."""
import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

from tqdm import tqdm

import choices
import comparison
import layouts
import measurement
import peers
import wheels

COLLECTIVES = ["all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter", "all_to_all", "gather", "barrier"]
QUICK_COLLECTIVES = [name for name in COLLECTIVES if name != "gather"]  # which is here for the cliffs
QUICK_SIZES = "8,4K,64K,1M,4M"
FULL_SIZES = "8,64,256,1K,4K,16K,64K,256K,1M,4M,16M,64M"
LOG = layouts.ROOT / "build/compare.log"


def parse_arguments():
    names = [layout.name for layout in layouts.LAYOUTS]
    parser = argparse.ArgumentParser(
        prog="scripts/compare", allow_abbrev=False, description="Umbel beside Open MPI (as it comes, with HAN, over UCX), MPICH and Gloo: "
        "times, ratios, shares of the limit that memory and links set. The nodes are those of scripts/cluster, which needs root.")
    parser.add_argument("--quick", action="store_true", help="five sizes, one turn, five minutes (else twelve sizes and three turns: hours)")
    parser.add_argument("--layouts", default=",".join(names), help=f"comma-separated, of {', '.join(names)}")
    parser.add_argument("--collectives", help=f"comma-separated, of {', '.join(COLLECTIVES)} (all; without gather if quick)")
    parser.add_argument("--sizes", help="comma-separated: 8,64K,4M")
    parser.add_argument("--turns", type=int, help="launches of each kind")
    parser.add_argument("--seconds", type=float, help="for each library, or algorithm, in each case of each turn")
    parser.add_argument("--with-pypi", action="store_true", help=f"also {', '.join(wheels.TITLES_OF_ALL)}: installs them from PyPI in build/peers. "
                        "What cannot be had, or does not run, is said and left out")
    parser.add_argument("--algorithms", action="store_true", help="no other libraries: Umbel's own choice beside each of its algorithms, forced; "
                        "the sizes of --quick")
    parser.add_argument("--json", metavar="FILE", help="all figures, with where they come from")
    parser.add_argument("--pictures", metavar="FOLDER", help="an SVG for each layout")
    options = parser.parse_args()
    options.layouts = _listed(parser, "layout", options.layouts, names)
    if options.collectives is None:
        options.collectives = QUICK_COLLECTIVES if options.quick else COLLECTIVES
    else:
        options.collectives = _listed(parser, "collective", options.collectives, COLLECTIVES)
    options.layouts = [layout for layout in layouts.LAYOUTS if layout.name in options.layouts]
    short = options.quick or options.algorithms
    options.sizes = options.sizes or (QUICK_SIZES if short else FULL_SIZES)
    options.turns = options.turns or (1 if options.quick else 3)
    options.seconds = options.seconds or (0.1 if short else 0.25)
    if options.algorithms and (options.with_pypi or options.pictures):
        parser.error("--algorithms has no other libraries, and no pictures")
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
        "peers_at_their_best": "malloc keeps its memory; with more ranks than cores Open MPI yields (mpi_yield_when_idle), MPICH by a preloaded sched_yield, "
        "Intel MPI by I_MPI_THREAD_YIELD, oneCCL by CCL_YIELD",
    }


def chosen_mode(options, log):
    """@returns the mode, and why optional peers are absent, by their titles"""
    if options.algorithms:
        return choices.Choices(), {}
    if not options.with_pypi:
        return comparison.Comparison(), {title: "--with-pypi installs it from PyPI" for title in wheels.TITLES_OF_ALL}
    launches, absent = wheels.prepare(log, lambda text: print(f"== {text}", flush=True))
    return comparison.Comparison(launches), absent


def print_absent(absent, failed):
    """What was not compared, and why."""
    by_reason = collections.defaultdict(list)
    for title, reason in absent.items():
        by_reason[reason].append(title)
    for reason, titles in by_reason.items():
        print(f"not compared: {', '.join(titles)}: {reason}")
    for layout, launches in failed.items():
        for name, reason in launches.items():
            print(f"{peers.TITLES[name]} failed on {layout}: {reason.splitlines()[0]}")
    if any(failed.values()) or any("failed" in reason for reason in by_reason):
        print(f"what they said is in {LOG.relative_to(layouts.ROOT)}")


def write_files(options, document):
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if options.pictures:
        import picture  # matplotlib takes a second to load
        pathlib.Path(options.pictures).mkdir(parents=True, exist_ok=True)
        for layout in options.layouts:
            rows = [case for case in document["cases"] if case["layout"] == layout.name]
            picture.draw(layout, rows, pathlib.Path(options.pictures) / f"{layout.name}.svg")


def main():
    options = parse_arguments()
    origin = provenance(options)
    rows = []
    with open(LOG, "a", encoding="utf-8") as log:
        mode, absent = chosen_mode(options, log)
        with tqdm(total=measurement.lines(options, mode), unit="case", disable=None) as bar:
            done = measurement.Measurement(options, mode, log, bar)
            for layout in options.layouts:
                of_layout = done.run(layout)
                rows += of_layout
                with tqdm.external_write_mode():
                    print(f"\n{layout.describe()}\n")
                    mode.print_table(of_layout)
    summary = mode.summary(rows)
    mode.print_summary(summary)
    print_absent(absent, done.failed)
    write_files(options, {
        "schema": 1, "mode": mode.name, "provenance": origin, "limits": done.limits, "launches": done.launches,
        "absent": absent, "failed": done.failed, "cases": rows, "summary": summary})
    if done.turns.wrong:
        print(f"{done.turns.wrong} elements were wrong", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (peers.Failed, RuntimeError, subprocess.SubprocessError) as error:
        sys.exit(f"scripts/compare: {error}")
