# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Where ranks run: on this host, or on nodes of the virtual cluster. And how a program is started there."""
import contextlib
import dataclasses
import os
import pathlib
import shutil
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


def launch(layout, mpi, command):
    """The command line of a program on all ranks. mpi: "openmpi" or "mpich"."""
    binding = "core" if not layout.oversubscribed else "none"
    if layout.nodes > 1:
        return cluster(layout, "run", "--mpi", mpi, "--ppn", str(layout.ranks_per_node), "--", *command)
    if mpi == "mpich":
        return [_program("mpiexec.mpich"), "-bind-to", binding, "-n", str(layout.ranks), *command]
    return [_program("mpirun.openmpi", "mpirun"), "--oversubscribe", "--bind-to", binding, "-n", str(layout.ranks), *command]


def environment(layout, extra):
    """For a launch: memory is given back to the system by no library (page faults cost more than messages here), and
    Open MPI yields where ranks share cores."""
    env = dict(os.environ)
    env.update({"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)})
    env.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "UCX_LOG_LEVEL": "error"})
    if layout.nodes == 1:
        env.update({"OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo", "UCX_NET_DEVICES": "lo"})
    if layout.oversubscribed:
        env["OMPI_MCA_mpi_yield_when_idle"] = "1"
    env.update(extra)
    return env


def _program(*names):
    for name in names:
        if path := shutil.which(name):
            return path
    raise SystemExit(f"there is no {names[0]}")
