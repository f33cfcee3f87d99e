// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Bandwidth of copy and reduce (bytes of output per second), and what the interpreter costs an instruction.
//   kernels_bench --benchmark_filter='sum_fp32'
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/host/host_agent.hpp"
#include "kernels/host/reduce.hpp"
#include "kernels/interpreter.hpp"
#include "unit/kernels/job.hpp"

namespace umbel {
namespace {

constexpr std::int64_t kSizes[] = {256, 4 << 10, 64 << 10, 1 << 20, 16 << 20};

void bench_copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint8_t> from(bytes, 1);
  std::vector<std::uint8_t> to(bytes, 2);
  for (auto _ : state) {
    kernels::copy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void bench_reduce(benchmark::State& state, DType dtype, RedOp op, int source_count) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<std::vector<std::uint8_t>> buffers(static_cast<std::size_t>(source_count) + 1,
                                                 std::vector<std::uint8_t>(bytes, 0x11));
  std::vector<const void*> sources;
  for (int k = 0; k < source_count; ++k) sources.push_back(buffers[static_cast<std::size_t>(k)].data());
  for (auto _ : state) {
    kernels::reduce(dtype, op, buffers.back().data(), sources.data(), source_count, bytes / size_of(dtype), 0);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// One rank's gather_program with one element a chunk.
void bench_interpreter(benchmark::State& state) {
  test::Job::Options options;
  options.count = 4096;
  options.cut = {4096 * 4, 4};
  test::Job job({test::gather_program(0, 1, 1, 2)}, options);
  std::uint32_t epoch = 0;
  for (auto _ : state) {
    job.begin_run();
    kernels::HostAgent agent(job.context(0, ++epoch));
    test::run_rank(job.program(0), job.view(0), agent, [] {});
  }
  constexpr std::int64_t kInstrsPerChunk = 8;  // in the two lanes: wait, move, signal, end of loop
  state.counters["ns_per_instr"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 4096 * kInstrsPerChunk / 1e9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void register_all() {
  auto* copy = benchmark::RegisterBenchmark("copy", bench_copy);
  for (std::int64_t size : kSizes) copy->Arg(size);
  for (DType dtype : all_dtypes()) {
    for (RedOp op : all_redops()) {
      if (!serves(op, dtype)) continue;
      for (int sources : {2, 4}) {
        const std::string name =
            std::string(name_of(op)) + "_" + std::string(name_of(dtype)) + "_of_" + std::to_string(sources);
        auto* bench = benchmark::RegisterBenchmark(
            name.c_str(), [=](benchmark::State& state) { bench_reduce(state, dtype, op, sources); });
        for (std::int64_t size : kSizes) bench->Arg(size);
      }
    }
  }
  benchmark::RegisterBenchmark("interpreter", bench_interpreter);
}

}  // namespace
}  // namespace umbel

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  umbel::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
