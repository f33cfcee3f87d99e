#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# count_instances.sh NM LIBRARY EXPECTED: how many different run_lanes kernels the library holds, by their host stubs.
set -eu
count=$("$1" -C "$2" | grep -o 'run_lanes<(umbel::DType)[0-9]*, (umbel::RedOp)[0-9]*>' | sort -u | wc -l)
echo "kernel instances: $count, expected $3"
test "$count" -eq "$3"
