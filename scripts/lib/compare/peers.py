# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""The libraries that Umbel is compared with. Each launch has Umbel too, in turns with what the launch is for."""
import dataclasses
import json
import subprocess
import tempfile
import threading

import launching
import layouts
from launching import MPICH, OPENMPI


@dataclasses.dataclass(frozen=True)
class Launch:
    mpi: launching.Mpi
    name: str  # of the host MPI, in the results
    peers: str = "mpi"
    flags: tuple = ()  # of umbel_compare
    environment: dict = dataclasses.field(default_factory=dict)
    optional: bool = False  # a failure is said, and the comparison goes on without it


LAUNCHES = [
    Launch(OPENMPI, "openmpi", peers="mpi,gloo"),
    Launch(OPENMPI, "openmpi_han", environment={"OMPI_MCA_coll_han_priority": "100"}),
    Launch(OPENMPI, "openmpi_ucx", environment={"OMPI_MCA_pml": "ucx", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any"}),
    Launch(MPICH, "mpich"),
]
# On one host only: between nodes the network has its own copy of everything.
REGISTERED = Launch(OPENMPI, "umbel_registered", peers="none", flags=("--registered",))
ALGORITHMS = Launch(OPENMPI, "algorithms", peers="none", flags=("--algorithms",))
TITLES = {
    "openmpi": "Open MPI", "openmpi_han": "Open MPI, HAN", "openmpi_ucx": "Open MPI over UCX", "mpich": "MPICH", "gloo": "Gloo",
    "openmpi5": "Open MPI 5", "mpich5": "MPICH 5", "intel": "Intel MPI", "oneccl": "oneCCL",
    "umbel": "Umbel", "umbel_registered": "Umbel, registered", "algorithms": "Umbel's algorithms",
}


class Failed(Exception):
    """A launch that did not end well: what it was and what it said."""


def run(layout, launch, options, timeout, on_line):
    """Starts the launch and calls on_line(document) for each line of its output. @throws Failed"""
    arguments = ["--peers", launch.peers, "--mpi-name", launch.name, "--interface", layout.interfaces[0], *launch.flags, *options]
    environment = launching.environment(layout, launch.mpi, launch.environment)
    command = launching.command(layout, launch.mpi, arguments)
    timed_out, told = threading.Event(), None
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                              text=True, cwd=layouts.ROOT) as process:
            timer = threading.Timer(timeout, lambda: (timed_out.set(), process.terminate()))
            timer.start()
            try:
                for line in process.stdout:
                    if not line.startswith("{"):
                        continue
                    document = json.loads(line)
                    if "status" in document:
                        told = document["status"]
                    else:
                        on_line(document)
            except BaseException:
                process.terminate()
                raise
            finally:
                timer.cancel()
        errors.seek(0)
        said = errors.read()
    status = process.returncode if told is None else told  # MPICH's launcher may kill ranks that leave later than others
    if status != 0:
        end = f"not done after {timeout:.0f} s" if timed_out.is_set() else f"exit status {status}"
        raise Failed(f"{layout.name}, {launch.name}: {end}\n{' '.join(command)}\n{said.strip()}")
