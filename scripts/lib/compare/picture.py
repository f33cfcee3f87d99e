# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Time and bus bandwidth against size, one row of panels for each collective, one line for each library."""
import matplotlib
matplotlib.use("Agg")
matplotlib.rcParams["svg.fonttype"] = "none"  # text, not outlines: a third of the size
from matplotlib import pyplot

import results
from peers import TITLES

COLORS = {
    "umbel": "#d62728", "umbel_registered": "#ff9896", "openmpi": "#1f77b4", "openmpi_han": "#17becf", "openmpi_ucx": "#2ca02c",
    "openmpi5": "#aec7e8", "mpich": "#9467bd", "mpich5": "#c5b0d5", "intel": "#ff7f0e", "oneccl": "#ffbb78", "gloo": "#8c564b",
}


def bus_factor(collective, ranks):
    return {"all_reduce": 2 * (ranks - 1) / ranks, "broadcast": 1, "reduce": 1}.get(collective, (ranks - 1) / ranks)


def draw(layout, cases, path):
    """An SVG or PNG of one layout's cases, by the path's ending."""
    collectives = [name for name in dict.fromkeys(case["collective"] for case in cases) if name != "barrier"]
    figure, axes = pyplot.subplots(len(collectives), 2, figsize=(10, 2.6 * len(collectives)), squeeze=False)
    for (left, right), collective in zip(axes, collectives):
        rows = sorted((case for case in cases if case["collective"] == collective), key=lambda case: case["size_bytes"])
        sizes = [row["size_bytes"] for row in rows]
        for name, times in results.curves(rows).items():
            style = {"color": COLORS[name], "label": TITLES[name], "marker": ".", "linewidth": 2 if name.startswith("umbel") else 1}
            left.plot(sizes, times, **style)
            factor = bus_factor(collective, layout.ranks)
            right.plot(sizes, [size * factor / us / 1e3 for size, us in zip(sizes, times)], **style)
        left.plot(sizes, [row["limit_us"] for row in rows], color="black", linestyle=":", label="limit")
        left.set(xscale="log", yscale="log", ylabel=f"{collective}\nµs")
        right.set(xscale="log", ylabel="busbw, GB/s")
        for panel in (left, right):
            panel.set_xscale("log", base=2)
            panel.grid(alpha=0.3)
    axes[-1][0].set_xlabel("bytes")
    axes[-1][1].set_xlabel("bytes")
    axes[0][0].legend(fontsize="x-small")
    figure.suptitle(layout.describe())
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
