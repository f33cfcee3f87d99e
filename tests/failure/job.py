# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""A job under mpirun --enable-recovery whose ranks can be killed and stopped, and that tells each rank's own end."""
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import Failed, environment, expect  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MPIRUN, PERF, DRIVER, DENY_CMA = sys.argv[1:5]


class Job:
    """with Job(folder, ranks, command, UMBEL_X=…) as job: …; whatever still runs at the end is killed."""

    def __init__(self, folder, ranks, command, **changes):
        self.folder = pathlib.Path(folder)
        self.ranks = ranks
        self.log = self.folder / "log"
        for old in self.folder.glob("*.[0-9]*"):
            old.unlink()
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [MPIRUN, "--enable-recovery", "-n", str(ranks), str(HERE / "record.sh"), str(self.folder), *map(str, command)],
                stdout=log, stderr=subprocess.STDOUT, env=environment(**changes), start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for rank in range(self.ranks):
            if self.text(f"pid.{rank}") and not self.text(f"status.{rank}"):
                self.signal(rank, signal.SIGKILL)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def text(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8").strip() if path.exists() else ""

    def output(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def signal(self, rank, number):
        try:
            os.kill(int(self.text(f"pid.{rank}")), number)
        except ProcessLookupError:
            pass

    def wait_for(self, what, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise Failed(f"{what}: not within {seconds} s\n{self.output()}")
            time.sleep(0.02)

    def wait_for_output(self, part, times=1, seconds=30):
        self.wait_for(f"“{part}” ×{times}", lambda: self.output().count(part) >= times, seconds)

    def wait_for_ends(self, ranks, seconds):
        self.wait_for(f"end of ranks {ranks}", lambda: all(self.text(f"status.{rank}") for rank in ranks), seconds)

    def status(self, rank):
        return int(self.text(f"status.{rank}"))

    def line_of(self, rank):
        """What the rank said of its failure."""
        lines = [line for line in self.output().splitlines() if line.startswith(f"rank {rank}:") or line.startswith(f"rank {rank} on ")]
        expect(lines, f"rank {rank} said nothing of its failure\n{self.output()}")
        return lines[-1]


def shared_memory_files():
    """Names in /dev/shm but for Open MPI's own."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith(("vader_segment", "open_mpi", "psm", "sem.", "ucx_"))}
