// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// barrier_perf: no rank returns before every rank has called.
#include "bench/calls.hpp"

int main(int argc, char** argv) { return umbel::bench::run(argc, argv, umbel::bench::calls::kBarrier); }
