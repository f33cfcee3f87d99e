# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""tune_test.py MPIRUN UMBEL_TUNE UMBEL_INFO ALL_REDUCE_PERF UMBEL_PLAN: a tuning file from its making to its use."""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, expect_in, main, run  # noqa: E402

MPIRUN, TUNE, INFO, PERF, PLAN = sys.argv[1:6]
LOCAL = {"local_alpha", "local_beta", "direct_beta", "copy_beta", "gamma"}
NETWORK = {"net_alpha", "net_post", "net_beta"}


def tune(*flags, ranks=2, expected_status=0, **changes):
    status, out, err = run([MPIRUN, "-n", ranks, TUNE, "--seconds", "0.3", *flags], **changes)
    expect(status == expected_status, f"status {status}, not {expected_status}\n{out}\n{err}")
    return out, err


def entries_of(path):
    document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    expect(list(document) == ["schema", "entries"] and document["schema"] == 1, f"{document}")
    return document["entries"]


def info_of(ranks=2, **changes):
    """What umbel_info says of the tuning; what it says on stderr."""
    status, out, err = run([MPIRUN, "-n", ranks, INFO, "--json"], **changes)
    expect(status == 0, f"{out}\n{err}")
    facts = [rank["communicator"]["facts"] for rank in json.loads(out)["ranks"]]
    said = {fact["value"] for each in facts for fact in each if fact["name"] == "tuning"}
    expect(len(said) == 1, f"the ranks say {said}")
    return said.pop(), err


def model_of(folder, ranks=2, **changes):
    path = pathlib.Path(folder) / "perf.json"
    status, out, err = run([MPIRUN, "-n", ranks, PERF, "-b", "1K", "-e", "1K", "-n", "3", "--json", path], **changes)
    expect(status == 0, f"{out}\n{err}")
    return json.loads(path.read_text(encoding="utf-8"))["model"]


def writes_an_entry_for_each_topology(folder):
    path = pathlib.Path(folder) / "tuning file.json"
    out, err = tune("-o", path)
    expect_in("local_alpha", out)
    expect_in(f"UMBEL_TUNING={path}", out)
    expect_in("100%", err)
    (entry,) = entries_of(path)
    expect(list(entry) == ["topology", "made", "figures", "at_start"], f"{list(entry)}")
    expect(entry["topology"]["ranks_on_nodes"] == [2] and re.fullmatch("[0-9a-f]{16}", entry["topology"]["hash"]), f"{entry}")
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry["made"]["date"]), f"{entry['made']}")
    expect(set(entry["figures"]) <= LOCAL and {"local_alpha", "copy_beta"} <= set(entry["figures"]), f"{entry['figures']}")
    expect(all(0 < figure < 1 for figure in entry["figures"].values()), f"{entry['figures']}")
    expect(set(entry["at_start"]) == LOCAL | NETWORK | {"rails", "cache_bytes", "ranks_per_core"}, f"{entry['at_start']}")
    # another topology beside it, by the variable and as JSON; then the first one anew
    out, _ = tune("--json", ranks=3, UMBEL_NODES="2", UMBEL_TUNING=path)
    document = json.loads(out)
    first, second = entries_of(path)
    expect(first == entry, "the other entry stays as it was")
    expect(document["entry"] == second and document["file"] == str(path) and document["rounds"] >= 3, f"{document}")
    expect(second["topology"]["ranks_on_nodes"] == [2, 1] and NETWORK <= set(second["figures"]), f"{second}")
    tune("-o", path)
    again = entries_of(path)
    expect(len(again) == 2 and again[1] == second and again[0]["topology"] == first["topology"], f"{again}")
    expect(again[0]["figures"] != first["figures"], "measured anew")
    expect(sorted(os.listdir(folder)) == [path.name], f"{os.listdir(folder)}")


def is_used_where_it_fits(folder):
    path = pathlib.Path(folder) / "t.json"
    tune("-o", path)
    document = json.loads(path.read_text(encoding="utf-8"))
    figures = document["entries"][0]["figures"]
    model = model_of(folder, UMBEL_TUNING=path)
    expect({name: model[name] for name in figures} == figures, f"{model}")
    said, err = info_of(UMBEL_TUNING=path)
    expect(said.startswith(f"{path}, made ") and "local_alpha" in said and "→" in said, said)
    expect("tuning" not in err, err)
    expect(info_of(UMBEL_TUNING="off")[0] == "none", "switched off")
    # on another number of ranks it is said once, whatever the communicators
    said, err = info_of(ranks=3, UMBEL_TUNING=path)
    expect_in("1 node of 2, here 1 node of 3", said)
    warnings = [line for line in err.splitlines() if "tuning file" in line]
    expect(len(warnings) == 1 and "ranks: 1 node of 2, here 1 node of 3" in warnings[0] and str(path) in warnings[0] and
           "umbel_tune" in warnings[0], err)
    status, out, err = run([PLAN, "explain", "--ranks", "2", "--bytes", "1M", "--tuning", path])
    expect(status == 0, err)
    expect_in(f"figures by {path}, made ", out)
    expect_in("with those at start: ", out)


def is_found_at_its_default_place(folder):
    for variable, place in (("XDG_CONFIG_HOME", "umbel/tuning.json"), ("HOME", ".config/umbel/tuning.json")):
        home = {"HOME": None, "XDG_CONFIG_HOME": None, "UMBEL_TUNING": None, variable: pathlib.Path(folder) / variable}
        expect(info_of(**home)[0] == "none", "there is none yet")
        out, _ = tune("--progress", "none", **home)
        expect_in("use it from now on", out)
        path = pathlib.Path(folder) / variable / place
        expect(len(entries_of(path)) == 1, f"{path}")
        expect(info_of(**home)[0].startswith(f"{path}, made "), "it is used")
        path.write_text("{", encoding="utf-8")
        said, err = info_of(**home)
        expect(said.startswith("none: ") and "is no tuning file" in said, said)
        expect(err.count("is no tuning file") == 1, err)


def what_is_wrong_is_said(folder):
    broken = pathlib.Path(folder) / "broken.json"
    broken.write_text('{"schema": 1}', encoding="utf-8")
    for path, complaint in ((broken, "is no tuning file"), (pathlib.Path(folder) / "none.json", "cannot read the tuning file")):
        status, out, err = run([MPIRUN, "-n", 2, PERF, "-b", "8", "-e", "8"], UMBEL_TUNING=path)
        expect(status == 2, f"status {status}\n{out}\n{err}")
        expect_in(complaint, err)
        expect_in(str(path), err)
    _, err = tune("-o", broken, expected_status=2)
    expect_in("is no tuning file", err)
    expect(broken.read_text(encoding="utf-8") == '{"schema": 1}', "it is left as it is")
    _, err = tune("-o", pathlib.Path(folder) / "no folder/t.json", expected_status=2)
    expect_in("cannot write the tuning file", err)
    _, err = tune("--seconds", "0", expected_status=2)
    expect_in("--seconds", err)
    _, err = tune("--output", broken, ranks=1, expected_status=2)
    expect_in("one rank alone", err)
    status, out, _ = run([MPIRUN, "-n", 2, TUNE, "--help"])
    expect(status == 0 and out.count("tuning file") > 0, out)


main([writes_an_entry_for_each_topology, is_used_where_it_fits, is_found_at_its_default_place, what_is_wrong_is_said])
