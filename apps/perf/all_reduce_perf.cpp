// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// all_reduce_perf: sum (or min, …) over all ranks, on every rank.
#include "bench/calls.hpp"

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::calls::kAllReduce); }
