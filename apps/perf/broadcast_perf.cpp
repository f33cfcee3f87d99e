// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// broadcast_perf: the root's data, on every rank.
#include "bench/calls.hpp"

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::calls::kBroadcast); }
