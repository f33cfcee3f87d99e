# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Counts the results of ctest runs: test_report.py PRESET=JUNIT_XML ...

A GoogleTest program counts by its test cases, anything else as one test. Prints the ten slowest tests, what the long ones
covered (their lines that begin with "covered: "), what failed and what was skipped and why, and a closing line. With CI=true a skip for any reason but "needs a GPU" is a failure.
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

CASE = re.compile(r"^\[\s+(OK|FAILED|SKIPPED)\s+\] ([\w/.]+\.[\w/.]+)(?:, where .*)? \(\d+ ms\)\s*$")
START = re.compile(r"^\[\s+RUN\s+\] ")
COVERED = re.compile(r"^covered: (.*)$", re.MULTILINE)
COUNTS = re.compile(r"(\d+) cases, (\d+) wrong")
ALLOWED_SKIP = "needs a GPU"


class Entry:
    """One test of ctest: its cases, and the reason of each skipped one."""

    def __init__(self, preset, element):
        self.name = f"{preset}/{element.get('name')}"
        self.seconds = float(element.get("time") or 0)
        self.passed, self.failed, self.skipped = set(), set(), {}
        output = element.findtext("system-out") or ""
        self.covered = COVERED.findall(output)
        self._read_cases(output)
        crashed = element.find("failure") is not None or element.get("status") == "fail"
        not_run = element.get("status") in ("notrun", "disabled") or element.find("skipped") is not None
        if crashed and not self.failed:
            self.failed.add(self.name)
        elif not_run and not self.skipped and not self.failed:
            self._skip_whole(element, output)
        elif not (self.passed or self.failed or self.skipped):
            self.passed.add(self.name)

    def _read_cases(self, output):
        said = []
        for line in output.splitlines():
            match = CASE.match(line)
            if START.match(line):
                said = []
            elif not match:
                said.append(line)
            else:
                outcome, case = match.groups()
                full = f"{self.name}:{case}"
                if outcome == "OK":
                    self.passed.add(full)
                elif outcome == "FAILED":
                    self.failed.add(full)
                else:
                    self.skipped[full] = " ".join(said).strip() or "no reason given"
        # several ranks report the same case: the worst outcome counts
        self.passed -= self.failed | self.skipped.keys()
        for case in self.failed & self.skipped.keys():
            del self.skipped[case]

    def _skip_whole(self, element, output):
        skipped = element.find("skipped")
        by_request = skipped is not None and "SKIP" in (skipped.get("message") or "")
        if not by_request:
            self.failed.add(self.name)  # not built, not found, disabled
            return
        lines = [line for line in output.splitlines() if line.strip()]
        self.skipped[self.name] = lines[-1] if lines else "no reason given"


def read(arguments):
    entries = []
    for argument in arguments:
        preset, _, path = argument.partition("=")
        entries += [Entry(preset, element) for element in ElementTree.parse(path).getroot().iter("testcase")]
    return entries


def print_covered(entries):
    lines = [(entry.name, line) for entry in entries for line in entry.covered]
    if not lines:
        return
    print("\n== what the long tests covered")
    for name, line in lines:
        print(f"{name}: {line}")
    counts = [tuple(map(int, match)) for _, line in lines for match in COUNTS.findall(line)]
    if counts:
        print(f"full product, {len(counts)} runs: {sum(cases for cases, _ in counts)} cases, {sum(wrong for _, wrong in counts)} wrong")


def main(arguments):
    entries = read(arguments)
    print_covered(entries)
    print("\n== the ten slowest tests")
    for entry in sorted(entries, key=lambda e: -e.seconds)[:10]:
        print(f"{entry.seconds:8.1f} s  {entry.name}")
    passed = set().union(*(entry.passed for entry in entries))
    failed = set().union(*(entry.failed for entry in entries))
    skipped = {case: reason for entry in entries for case, reason in entry.skipped.items()}
    for case, reason in sorted(skipped.items()):
        print(f"skipped: {case}: {reason}")
    for case in sorted(failed):
        print(f"FAILED: {case}")
    refused = [case for case, reason in skipped.items() if ALLOWED_SKIP not in reason] if os.environ.get("CI") == "true" else []
    for case in refused:
        print(f"FAILED: {case} was skipped, which CI allows only for a test that {ALLOWED_SKIP}")
    print(f"\n{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or refused or not passed else 0


sys.exit(main(sys.argv[1:]))
