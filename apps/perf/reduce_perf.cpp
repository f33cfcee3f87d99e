// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// reduce_perf: sum (or min, …) over all ranks, on the root.
#include "bench/calls.hpp"

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::calls::kReduce); }
