# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""The libraries that Umbel is compared with. Each launch has Umbel too, in turns with what the launch is for."""
import dataclasses
import json
import subprocess
import tempfile
import threading

import layouts


@dataclasses.dataclass(frozen=True)
class Launch:
    mpi: str  # whose mpirun
    name: str  # of the host MPI, in the results
    peers: str = "mpi"
    registered: bool = False  # Umbel's buffers come from umbel_mem_alloc
    environment: dict = dataclasses.field(default_factory=dict)

    @property
    def program(self):
        return layouts.BIN / ("umbel_compare" if self.mpi == "openmpi" else "umbel_compare_mpich")



LAUNCHES = [
    Launch("openmpi", "openmpi", peers="mpi,gloo"),
    Launch("openmpi", "openmpi_han", environment={"OMPI_MCA_coll_han_priority": "100"}),
    Launch("openmpi", "openmpi_ucx", environment={"OMPI_MCA_pml": "ucx", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any"}),
    Launch("mpich", "mpich"),
]
# On one host only: between nodes the network has its own copy of everything.
REGISTERED = Launch("openmpi", "umbel_registered", peers="none", registered=True)
TITLES = {
    "openmpi": "Open MPI", "openmpi_han": "Open MPI, HAN", "openmpi_ucx": "Open MPI over UCX",
    "mpich": "MPICH", "gloo": "Gloo", "umbel": "Umbel", "umbel_registered": "Umbel, registered",
}


class Failed(Exception):
    """A launch that did not end well: what it was and what it said."""


def run(layout, launch, options, timeout, on_line):
    """Starts the launch and calls on_line(document) for each line of its output. @throws Failed"""
    prefix = []
    if launch.mpi == "mpich" and layout.oversubscribed:
        # for the ranks, not for mpiexec and all that it starts; by its name, since blanks would part a path
        prefix = ["env", f"LD_LIBRARY_PATH={layouts.BIN.parent / 'lib'}", "LD_PRELOAD=libumbel_mpich_yield.so"]
    arguments = ["--peers", launch.peers, "--mpi-name", launch.name, "--interface", layout.interfaces[0], *options]
    if launch.registered:
        arguments.append("--registered")
    environment = layouts.environment(layout, launch.environment)
    command = layouts.launch(layout, launch.mpi, [*prefix, str(launch.program), *arguments])
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                              text=True, cwd=layouts.ROOT) as process:
            timer = threading.Timer(timeout, process.terminate)
            timer.start()
            try:
                for line in process.stdout:
                    if line.startswith("{"):
                        on_line(json.loads(line))
            except BaseException:
                process.terminate()
                raise
            finally:
                timer.cancel()
        errors.seek(0)
        said = errors.read()
    if process.returncode != 0:
        raise Failed(f"{layout.name}, {launch.name}: exit status {process.returncode} of {' '.join(command)}\n{said.strip()}")
