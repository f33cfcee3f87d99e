#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# umbel_plan's exit statuses: 0 shown, 2 usage, with a message that says what is wrong.
set -eu
plan=$1

# expect STATUS TEXT ARGUMENT…
expect() {
  status=$1 text=$2
  shift 2
  got=0
  output=$("$plan" "$@" 2>&1) || got=$?
  if [ "$got" -ne "$status" ]; then
    echo "umbel_plan $*: status $got, not $status: $output" >&2
    exit 1
  fi
  case $output in
    *"$text"*) ;;
    *)
      echo "umbel_plan $*: '$text' is not in: $output" >&2
      exit 1
      ;;
  esac
}

expect 0 'rank 3 of 4' show --algorithm ring --ranks 4 --nodes 2 --rank 3
expect 0 'recv' show --algorithm hierarchical_ring --ranks 4 --nodes 0/0,0/1,1/0,1/1
expect 0 'does not serve this' show --algorithm one_shot --ranks 4 --nodes 2
expect 0 "proved: 1 algorithm, " prove --quick --collective all_reduce --algorithm central --max-ranks 3 --threads 1
expect 2 "there is no algorithm 'rign'" show --algorithm rign --ranks 4
expect 2 "there is no algorithm 'rign'; there are all_reduce one_shot, " prove --algorithm rign
expect 2 'rank 4 is not one of 4 ranks' show --algorithm ring --ranks 4 --rank 4
expect 2 'ranks' show --algorithm ring --ranks none
expect 2 'price: no such subcommand; there are prove, show, simulate, explain' price
expect 2 'A subcommand is required'
expect 2 'not expected: --fast 5' prove --fast 5
expect 2 '' show --algorithm ring --ranks 4 --nodes 0,1

expect 0 'fastest; 8 one_shot' simulate --ranks 4 --sizes 8
expect 0 'not possible: one_shot: needs all ranks on one node' simulate --ranks 4 --nodes 2 --sizes 8,64K
expect 0 'ring' simulate --algorithm ring --ranks 4 --nodes 4 --sizes 1K:1M:x32
expect 1 'not possible: one_shot' simulate --algorithm one_shot --ranks 4 --nodes 2 --sizes 8
expect 0 '> one_shot' explain --ranks 4 --bytes 8
expect 0 'the least predicted time' explain --ranks 8 --nodes 2 --bytes 1M
expect 0 'staged, pieces' explain --algorithm two_shot --ranks 2 --bytes 16M --direct
expect 0 'direct, pieces' explain --algorithm two_shot --ranks 2 --bytes 16M --registered
expect 2 "'8:4' does not go up" simulate --ranks 4 --sizes 8:4
expect 2 "'8x' is not a size" simulate --ranks 4 --sizes 8x
expect 2 '--ranks' simulate --sizes 8
expect 2 'there is no collective' simulate --collective all --ranks 4
expect 2 'rign' simulate --algorithm rign --ranks 4
expect 2 '6 bytes are not a whole number of fp32 elements' explain --ranks 4 --bytes 6
expect 2 'root 4 is not one of 4 ranks' explain --ranks 4 --root 4 --bytes 8
expect 2 'cannot read /nowhere' simulate --ranks 4 --cluster /nowhere

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo '{"wire_beta": 1e-10, "rails": 2, "uplinks": [{"beta": 1e-9}]}' >"$folder/cluster.json"
echo '{"wire_bet": 1}' >"$folder/wrong.json"
echo '{"rails": 0}' >"$folder/no_rails.json"
expect 0 'fastest' simulate --ranks 8 --nodes 4 --sizes 1M --cluster "$folder/cluster.json" --json "$folder/out.json"
grep -q '"rails": 2' "$folder/out.json"
grep -q '"simulated_us"' "$folder/out.json"
expect 2 "no figure 'wire_bet'; there are flag_s" simulate --ranks 8 --cluster "$folder/wrong.json"
expect 2 'rails is 0: must be at least 1' simulate --ranks 8 --cluster "$folder/no_rails.json"
# a tuning file: figures at start and tuned, and what each makes the planner choose
cat >"$folder/tuning.json" <<'JSON'
{"schema": 1, "entries": [
 {"topology": {"nodes": 2, "ranks_on_nodes": [2, 2], "ranks_per_core": 1.0, "processor": "p", "cma": false,
               "network": "n", "rails": 1, "hash": "HASH"},
  "made": {"version": "0.1.0", "revision": "r", "date": "2026-01-31T12:00:00Z", "host": "h"},
  "figures": {"net_alpha": 1e-4, "net_beta": 1e-11},
  "at_start": {"local_alpha": 1e-6, "local_beta": 1e-10, "direct_beta": 1e-10, "copy_beta": 1e-10, "gamma": 1e-10,
               "net_alpha": 1e-5, "net_post": 1e-6, "net_beta": 1e-9, "rails": 1.0, "cache_bytes": 1048576.0, "ranks_per_core": 1.0}}]}
JSON
expect 2 'changed by hand' explain --ranks 4 --nodes 2 --bytes 1M --tuning "$folder/tuning.json"
hash=$("$plan" explain --ranks 4 --nodes 2 --bytes 1M --tuning "$folder/tuning.json" 2>&1 | sed -n 's/.*topology is \([0-9a-f]*\),.*/\1/p')
sed -i "s/HASH/$hash/" "$folder/tuning.json"
expect 0 'net_alpha        10.00 us at start    100.00 us tuned' explain --ranks 4 --nodes 2 --bytes 1M --tuning "$folder/tuning.json"
expect 0 'made 2026-01-31T12:00:00Z on h by Umbel 0.1.0 (r)' explain --ranks 4 --nodes 2 --bytes 1M --tuning "$folder/tuning.json"
expect 0 'other nodes than these' explain --ranks 4 --bytes 1M --tuning "$folder/tuning.json"
expect 0 'figures by ' simulate --ranks 4 --nodes 2 --sizes 1M --tuning "$folder/tuning.json"
expect 2 'excludes' explain --ranks 4 --bytes 1M --tuning "$folder/tuning.json" --cluster "$folder/cluster.json"
expect 2 'is no tuning file' explain --ranks 4 --bytes 1M --tuning "$folder/cluster.json"
expect 2 'cannot read the tuning file /nowhere' simulate --ranks 4 --tuning /nowhere
"$plan" explain --ranks 4 --nodes 2 --bytes 1M --tuning "$folder/tuning.json" --json "$folder/tuned.json" >"$folder/tuned.txt"
python3 - "$folder/tuned.json" "$folder/tuned.txt" <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1], encoding="utf-8"))
text = open(sys.argv[2], encoding="utf-8").read()
tuning = document["tuning"]
assert tuning["figures"] == {"net_alpha": 1e-4, "net_beta": 1e-11} and tuning["file"].endswith("tuning.json"), tuning
chosen, at_start = document["candidates"][0], tuning["chosen_at_start"]
assert chosen["name"] == document["chosen"] and f"with those at start: {at_start['name']}, predicted" in text, text
# a megabyte by links of 1 GB/s takes a millisecond; by those of 100 GB/s the messages count
assert at_start["predicted_us"] > 1000 > chosen["predicted_us"] > 100, (at_start, chosen)
PYTHON
# measured FILE CHANGE…: FILE as a perf app writes it, with these sed commands.
measured() {
  file=$1
  shift
  cat >"$folder/whole.json" <<'JSON'
{"schema": 1, "ranks": 4, "nodes": 2, "placement": "0,1,0,1",
 "model": {"direct": true, "local_alpha": 1e-6, "local_beta": 1e-10, "direct_beta": 1e-10, "copy_beta": 1e-10,
           "gamma": 1e-10, "net_alpha": 2e-5, "net_beta": 1e-9, "cache_bytes": 1048576, "ranks_per_core": 1.0},
 "collective": "all_reduce", "rows": [
  {"size_bytes": 1024, "count": 256, "dtype": "fp32", "op": "sum", "root": -1, "algorithm": "ring",
   "out_of_place": {"time_us": 250}, "in_place": {"time_us": 240}, "model_us": 1.0, "peer": null},
  {"size_bytes": 1024, "count": 256, "dtype": "fp32", "op": "sum", "root": -1, "algorithm": "recursive_doubling",
   "out_of_place": {"time_us": null}, "in_place": {"time_us": 60.5}, "model_us": 1.0, "peer": null},
  {"size_bytes": 1024, "count": 256, "dtype": "fp32", "op": "sum", "root": -1, "algorithm": "one_shot",
   "out_of_place": {"time_us": 9}, "in_place": {"time_us": 9}, "model_us": 1.0, "peer": null},
  {"size_bytes": 2048, "count": 512, "dtype": "fp32", "op": "sum", "root": null, "algorithm": null,
   "out_of_place": {"time_us": null}, "in_place": {"time_us": null}}]}
JSON
  sed "$@" "$folder/whole.json" >"$folder/$file"
}
measured measured.json ''
expect 0 'all_reduce on 4 ranks of 2 nodes, by the figures that were measured with them' simulate --measured "$folder/measured.json" \
  --json "$folder/errors.json"
expect 0 'median absolute error of 3 rows: predicted ' simulate --measured "$folder/measured.json"
expect 0 'not possible: needs all ranks on one node' simulate --measured "$folder/measured.json"
expect 0 '2 nodes, by the figures of '"$folder/cluster.json" simulate --measured "$folder/measured.json" --cluster "$folder/cluster.json"
# the errors are those of the times that are printed, their medians those of the errors
python3 - "$folder/errors.json" <<'PYTHON'
import json, statistics, sys
document = json.load(open(sys.argv[1], encoding="utf-8"))
assert [row["measured_us"] for row in document["rows"]] == [250, 60.5, 9], document
for kind in ("predicted", "simulated"):
    rows = document["rows"][:2]
    for row in rows:
        assert row[f"{kind}_us"] > 20, row  # a message at least
        assert abs(row[f"{kind}_error"] - (row[f"{kind}_us"] / row["measured_us"] - 1)) < 1e-12, row
    assert f"{kind}_us" not in document["rows"][2] and "refused" in document["rows"][2], document
    median = statistics.median(abs(row[f"{kind}_error"]) for row in rows)
    assert abs(document["median_error"][kind] - median) < 1e-12, document
PYTHON
measured plain.json '/"model": {/,/},/d; s/"placement": "0,1,0,1",//'
expect 0 'by the figures of a plain cluster' simulate --measured "$folder/plain.json"
expect 2 'was measured on 4 ranks, not 5' simulate --measured "$folder/measured.json" --ranks 5
expect 2 'was measured on 2 nodes, not 4' simulate --measured "$folder/measured.json" --nodes 4
expect 2 'was measured of all_reduce, not broadcast' simulate --measured "$folder/measured.json" --collective broadcast
measured barrier.json 's/"all_reduce"/"barrier"/; s/"size_bytes": 1024, "count": 256, "dtype": "fp32", "op": "sum"/"size_bytes": 0, "count": 0, "dtype": "none", "op": "none"/; s/"ring"/"dissemination"/; s/"recursive_doubling"/"hierarchical"/; s/"one_shot"/"direct"/'
expect 0 'median absolute error of 3 rows: predicted ' simulate --measured "$folder/barrier.json"
expect 0 'dissemination  ' simulate --measured "$folder/barrier.json"
measured other.json 's/"all_reduce"/"sendrecv"/'
expect 2 "there is no collective 'sendrecv'" simulate --measured "$folder/other.json"
measured unequal.json 's/"all_reduce"/"all_to_allv"/'
expect 2 'was measured of all_to_allv, whose shares differ: only equal ones are simulated' simulate --measured "$folder/unequal.json"
measured later.json 's/"schema": 1/"schema": 2/'
expect 2 'has schema 2, not 1' simulate --measured "$folder/later.json"
measured empty.json '/"size_bytes"/,/"in_place"/d; s/"rows": \[/"rows": []}/'
expect 2 'has no times' simulate --measured "$folder/empty.json"
expect 2 'is not what a perf app writes' simulate --measured "$folder/cluster.json"
expect 2 'cannot read /nowhere' simulate --measured /nowhere
expect 2 'is not JSON' simulate --measured "$0"
