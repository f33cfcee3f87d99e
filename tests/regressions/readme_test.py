# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""Every test that README.md names is there."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path.insert(0, str(TESTS / "support"))
from harness import expect, main  # noqa: E402


def named():
    """What stands between backticks in the last cell of each row."""
    for line in (HERE / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell for cell in line.split("|") if cell.strip()]
        if line.startswith("| ") and not cells[0].strip().startswith(("#", "---")):
            yield from re.findall(r"`([^`]*)`", cells[-1])


def every_name_exists(_):
    cpp = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("*.cpp"))
    cases = set(re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", cpp, re.MULTILINE))
    rows = (HERE / "cases_test.cpp").read_text(encoding="utf-8")
    names = list(named())
    expect(len(names) > 100, f"only {len(names)} names: the table is read wrongly")
    missing = []
    for name in names:
        if name.startswith("row "):
            row = name.removeprefix("row ")
            found = f'"{row}"' in rows or (row.endswith("_") and f'"{row}{{}}' in rows)  # made by a loop
        elif " " in name:
            file, function = name.split(" ")
            text = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob(file))
            found = re.search(rf"^(def )?{function}\(", text, re.MULTILINE)
        elif "." in name:
            found = tuple(name.split(".")) in cases
        else:  # a path or a word
            continue
        if not found:
            missing.append(name)
    expect(not missing, f"README.md names tests that are not there: {missing}")


main([every_name_exists])
