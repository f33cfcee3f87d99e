// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Runs ranks as threads with the flags as they are, or without their release or their acquire: whether ThreadSanitizer
// sees the difference is the test (race_probe_test.cpp).
#include <cstdio>
#include <string_view>

#include "unit/kernels/threads.hpp"

namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

template <std::memory_order kLoad, std::memory_order kStore>
void run() {
  umbel::test::Job::Options options;
  options.dtype = umbel::DType::uint32;
  options.count = 2000;
  options.cut = {4000, 400};
  umbel::test::run_threads<umbel::test::WeakAgent<kLoad, kStore>>(2, options, 5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view variant = argc == 2 ? argv[1] : "";
  if (variant == "whole") {
    run<memory_order_acquire, memory_order_release>();
  } else if (variant == "no_release") {
    run<memory_order_acquire, memory_order_relaxed>();
  } else if (variant == "no_acquire") {
    run<memory_order_relaxed, memory_order_release>();
  } else {
    std::fputs("usage: race_probe whole|no_release|no_acquire\n", stderr);
    return 2;
  }
  return 0;
}
