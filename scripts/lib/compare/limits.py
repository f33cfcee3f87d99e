# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""What the machine allows: measured with plain tools (iperf3, ucx_perftest, umbel_memory_limits), and the least time of
a collective that follows from it."""
import bisect
import json
import math
import os
import re
import subprocess
import time

import layouts

SERVER_STARTS_WITHIN_S = 5


class Memory:
    """Rates of two cores that exchange data, in bytes per second, by the size of the buffers."""

    def __init__(self):
        text = subprocess.run([layouts.BIN / "umbel_memory_limits"], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.raw = json.loads(text)
        self.cores = self.raw["cores"]
        self.flag_hop_s = self.raw["flag_hop_s"]

    def rate(self, work, size):
        """Between the two nearest sizes measured; work: "copy" or "add"."""
        rows = self.raw["exchange"]
        sizes = [row["bytes"] for row in rows]
        rates = [row[f"{work}_bytes_per_s"] for row in rows]
        i = bisect.bisect_left(sizes, size)
        if i == 0 or i == len(sizes):
            return rates[min(i, len(sizes) - 1)]
        part = (math.log(size) - math.log(sizes[i - 1])) / (math.log(sizes[i]) - math.log(sizes[i - 1]))
        return rates[i - 1] + part * (rates[i] - rates[i - 1])


class Link:
    """Between two nodes: all links' goodput together in bytes per second, and the one-way latency of a small message."""

    def __init__(self, layout):
        goodputs = [_goodput(layout, interface) for interface in layout.interfaces]
        self.latency_s = _latency(layout, layout.interfaces[0])
        self.bytes_per_s = sum(goodputs)
        self.raw = {"goodput_bytes_per_s": goodputs, "latency_s": self.latency_s}


class Limits:
    """Of this machine now, and of the links of a layout's nodes, which are up."""

    def __init__(self, layout):
        self._layout = layout
        self._memory = Memory()
        self._link = Link(layout) if layout.nodes > 1 else None
        self.raw = {"memory": self._memory.raw, "link": self._link and self._link.raw}

    def least_time(self, collective, size):
        return least_time(self._layout, collective, size, self._memory, self._link)


def least_time(layout, collective, size, memory, link):
    """Seconds. size: bytes of a buffer, or of all shares."""
    if layout.nodes > 1:
        n = layout.nodes
        share = (n - 1) / n
        per_node = {
            "all_reduce": 2 * size * share, "all_gather": size * share, "reduce_scatter": size * share, "broadcast": size,
            "reduce": size, "all_to_all": layout.ranks_per_node * size * share, "gather": size * share, "barrier": 0,
        }[collective]
        return max(math.ceil(math.log2(n)) * link.latency_s, per_node / link.bytes_per_s)
    if collective == "barrier":
        return memory.flag_hop_s
    p = layout.ranks
    copies, adds = {
        "all_reduce": (p - 1, p - 1), "broadcast": (p - 1, 0), "reduce": (0, p - 1), "all_gather": (p, 0),
        "reduce_scatter": (0, p - 1), "all_to_all": (p, 0), "gather": (1, 0),
    }[collective]
    workers = min(memory.cores, p)
    busy = (copies * size / memory.rate("copy", size) + adds * size / memory.rate("add", size)) / workers
    return max(memory.flag_hop_s, busy)


def _address(layout, node, interface):
    text = _run(layout, node, ["ip", "-json", "-4", "address", "show", "dev", interface])
    return json.loads(text)[0]["addr_info"][0]["local"]


def _goodput(layout, interface):
    """One TCP stream, without its first half second; bytes per second."""
    address = _address(layout, "n1", interface)
    with _Server(layout, ["iperf3", "--server", "--one-off", "--bind", address]):
        return _run_until_it_connects(layout, ["iperf3", "--client", address, "--omit", "0.5", "--time", "2", "--json"],
                                      lambda text: json.loads(text)["end"]["sum_received"]["bits_per_second"] / 8)


def _latency(layout, interface):
    """Half a round trip of 8 bytes by UCX over TCP, the median; seconds."""
    settings = ["env", f"UCX_NET_DEVICES={interface}", "UCX_TLS=tcp,self", "UCX_LOG_LEVEL=error"]
    test = ["ucx_perftest", "-t", "tag_lat", "-s", "8", "-n", "3000", "-f"]
    with _Server(layout, [*settings, "ucx_perftest"]):
        return _run_until_it_connects(layout, [*settings, *test, _address(layout, "n1", interface)],
                                      lambda text: float(re.findall(r"^\s*(?:Final:)?\s*\d+\s+([\d.]+)\s", text, re.MULTILINE)[-1]) * 1e-6)


class _Server:
    """A program on n1 that serves one client."""

    def __init__(self, layout, command):
        self._command = layouts.inside(layout, "n1", command)

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __exit__(self, *_):
        try:
            self._process.wait(SERVER_STARTS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()


def _run(layout, node, command):
    done = subprocess.run(layouts.inside(layout, node, command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ), text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} on {node}: exit status {done.returncode}\n{done.stdout.strip()}")
    return done.stdout


def _run_until_it_connects(layout, command, figure):
    """figure(text): of what the client said; what it raises before the server is up is forgotten."""
    end = time.monotonic() + SERVER_STARTS_WITHIN_S
    while True:
        try:
            text = _run(layout, "n0", command)
            return figure(text)
        except (RuntimeError, LookupError, ValueError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
