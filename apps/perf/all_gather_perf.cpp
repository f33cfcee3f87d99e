// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// all_gather_perf: every rank's share, on every rank.
#include "bench/calls.hpp"

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::calls::kAllGather); }
