# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""The launches of a mode (comparison, choices) on one layout after the other."""
import layouts
import peers
import results

TIMEOUT_S = 1800  # of a launch
OPTIONAL_TIMEOUT_S = 600


class Measurement:
    """What the launches gave, and what became of them."""

    def __init__(self, options, mode, log, bar):
        self._options, self._mode, self._log, self._bar = options, mode, log, bar
        self.turns = results.Turns()
        self.limits = {}  # by layout
        self.launches = {}  # by layout and launch: what it said of itself
        self.failed = {}  # by layout and launch: why, where the launch was an optional one

    def run(self, layout):
        """@returns the layout's rows. @throws peers.Failed when a launch fails that is not optional"""
        self.launches[layout.name], self.failed[layout.name] = {}, {}
        with layouts.up(layout, self._log):
            allowed = self._mode.limits(layout)
            for turn in range(self._options.turns):
                for launch in self._mode.launches(layout):
                    self._bar.set_description(f"{layout.name}, {peers.TITLES[launch.name]}")
                    self._launch(layout, turn, launch)
        if allowed:
            self.limits[layout.name] = allowed.raw
        return self._mode.rows(layout, self.turns, allowed)

    def _launch(self, layout, turn, launch):
        options = self._options
        arguments = ["--collectives", ",".join(options.collectives), "--sizes", options.sizes, "--seconds", str(options.seconds)]
        lines = 0

        def take(line):
            nonlocal lines
            if "collective" not in line:
                self.launches[layout.name][launch.name] = line
                return
            self.turns.add(layout, turn, launch, line)
            self._bar.update()
            lines += 1

        failed = self.failed[layout.name]
        if launch.name not in failed:  # what failed in one turn is not tried in the next
            try:
                peers.run(layout, launch, arguments, OPTIONAL_TIMEOUT_S if launch.optional else TIMEOUT_S, take)
            except peers.Failed as failure:
                if not launch.optional:
                    raise
                failed[launch.name] = f"after {lines} cases: {failure}"
                print(failure, file=self._log, flush=True)
        self._bar.update(lines_of_a_launch(options) - lines)


def lines_of_a_launch(options):
    data_collectives = [name for name in options.collectives if name != "barrier"]
    return len(data_collectives) * len(options.sizes.split(",")) + ("barrier" in options.collectives)


def lines(options, mode):
    """Of all launches together."""
    return lines_of_a_launch(options) * options.turns * sum(len(mode.launches(layout)) for layout in options.layouts)
