# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Where ranks run: on this host, or on nodes of the virtual cluster."""
import contextlib
import dataclasses
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
BIN = ROOT / "build/release/bin"


@dataclasses.dataclass(frozen=True)
class Layout:
    name: str
    ranks_per_node: int
    nodes: int = 1
    rate: str = "2gbit"  # of each link, each way
    nics: int = 1

    @property
    def ranks(self):
        return self.nodes * self.ranks_per_node

    @property
    def oversubscribed(self):
        return self.ranks > len(os.sched_getaffinity(0))

    @property
    def interfaces(self):
        return [f"eth{k}" for k in range(self.nics)] if self.nodes > 1 else ["lo"]

    def describe(self):
        if self.nodes == 1:
            return f"1 host × {self.ranks} ranks"
        links = "a link" if self.nics == 1 else f"{self.nics} links"
        return f"{self.nodes} nodes × {self.ranks_per_node} ranks, {links} of {self.rate} per node"


LAYOUTS = [
    Layout("1x2", 2),
    Layout("1x4", 4),
    Layout("1x8", 8),
    Layout("2x2", 2, nodes=2),
    Layout("4x2", 2, nodes=4),
    Layout("4x1", 1, nodes=4),
    Layout("2x2-two-nics", 2, nodes=2, rate="1gbit", nics=2),
]


def cluster(layout, *arguments):
    return [str(ROOT / "scripts/cluster"), "--name", f"compare-{os.getpid()}-{layout.name}", *arguments]


@contextlib.contextmanager
def up(layout, log):
    """The layout's nodes, while the block runs. @throws subprocess.CalledProcessError"""
    if layout.nodes == 1:
        yield
        return
    options = ["--nodes", str(layout.nodes), "--rate", layout.rate, "--nics", str(layout.nics)]
    subprocess.run(cluster(layout, "up", *options), stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    try:
        yield
    finally:
        subprocess.run(cluster(layout, "down"), stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)


def inside(layout, node, command):
    """The command line of a command on one node."""
    return command if layout.nodes == 1 else cluster(layout, "exec", node, "--", *command)
