# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""How each MPI starts a program on all ranks of a layout, and the environment in which it is at its best there."""
import dataclasses
import os
import pathlib
import shutil

import layouts

# of Debian's packages, the first that is there
LAUNCHERS = {"openmpi": ("mpirun.openmpi", "mpirun"), "mpich": ("mpiexec.mpich",)}


@dataclasses.dataclass(frozen=True)
class Mpi:
    family: str  # whose options its launcher takes, and whose variables it reads: "openmpi", "mpich", "intel"
    program: pathlib.Path  # umbel_compare, built for it
    launcher: pathlib.Path | None = None  # None: Debian's
    libraries: tuple = ()  # folders that the loader would not find


OPENMPI = Mpi("openmpi", layouts.BIN / "umbel_compare")
MPICH = Mpi("mpich", layouts.BIN / "umbel_compare_mpich")


def command(layout, mpi, arguments):
    """The command line of the MPI's umbel_compare on all ranks."""
    program = [str(mpi.program), *arguments]
    if mpi.family == "mpich" and layout.oversubscribed:
        # for the ranks, not for mpiexec and all that it starts; by its name, since blanks would part a path
        libraries = ":".join(map(str, (layouts.BIN.parent / "lib", *mpi.libraries)))
        program = ["env", f"LD_LIBRARY_PATH={libraries}", "LD_PRELOAD=libumbel_mpich_yield.so", *program]
    if layout.nodes > 1:
        launcher = ["--mpirun", str(mpi.launcher)] if mpi.launcher else []
        return layouts.cluster(layout, "run", "--mpi", mpi.family, *launcher, "--ppn", str(layout.ranks_per_node), "--", *program)
    return [str(mpi.launcher or _program(*LAUNCHERS[mpi.family])), *_options(layout, mpi), "-n", str(layout.ranks), *program]


def environment(layout, mpi, extra):
    """Memory is given back to the system by no library (page faults cost more than messages here), nothing leaves this
    host's loopback or the cluster's links, and who can yields where ranks share cores."""
    env = dict(os.environ)
    env.update({"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)})
    env.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "UCX_LOG_LEVEL": "error"})
    if mpi.libraries:
        env["LD_LIBRARY_PATH"] = ":".join(map(str, mpi.libraries))
    if layout.nodes == 1:
        env.update({"OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo", "UCX_NET_DEVICES": "lo"})
    if mpi.family == "intel":
        env.update({"FI_PROVIDER": "tcp", "FI_TCP_IFACE": layout.interfaces[0], "CCL_KVS_IFACE": layout.interfaces[0]})
        env.update({"CCL_WORKER_OFFLOAD": "0", "CCL_LOG_LEVEL": "error"})  # no core is spare for a thread of its own
    if layout.oversubscribed:
        env.update({"OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_PIN": "0", "I_MPI_THREAD_YIELD": "3", "I_MPI_THREAD_SLEEP": "0",
                    "CCL_YIELD": "sched_yield"})
    env.update(extra)
    return env


def _options(layout, mpi):
    """The launcher's, on one host."""
    binding = "none" if layout.oversubscribed else "core"
    return {"openmpi": ["--oversubscribe", "--bind-to", binding], "mpich": ["-bind-to", binding], "intel": []}[mpi.family]


def _program(*names):
    for name in names:
        if path := shutil.which(name):
            return path
    raise SystemExit(f"there is no {names[0]}")
