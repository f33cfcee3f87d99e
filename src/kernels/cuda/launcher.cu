// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/cuda/launcher.hpp"

#include <array>
#include <string>
#include <utility>

#include <cuda_runtime.h>
#include <cuda/atomic>

#include "base/error.hpp"

namespace umbel::kernels {
namespace {

/// The threads of a block; flags live in peer-mapped or host memory, so their scope is the system.
struct DeviceThreads {
  using Flag = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;
  __device__ unsigned index() const { return threadIdx.x; }
  __device__ unsigned width() const { return blockDim.x; }
  __device__ void barrier() { __syncthreads(); }
  __device__ bool any(bool mine) { return __syncthreads_or(mine ? 1 : 0) != 0; }
  __device__ std::uint64_t load_acquire(std::uint64_t* flag) { return Flag(*flag).load(cuda::memory_order_acquire); }
  __device__ void store_release(std::uint64_t* flag, std::uint64_t value) {
    Flag(*flag).store(value, cuda::memory_order_release);
  }
};

/// Whether the call was given up, as one answer for the block.
__device__ bool aborted(const std::uint32_t* abort) {
  bool seen = false;
  if (threadIdx.x == 0 && abort != nullptr) {
    cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system> flag(*const_cast<std::uint32_t*>(abort));
    seen = flag.load(cuda::memory_order_relaxed) != 0;
  }
  return __syncthreads_or(seen ? 1 : 0) != 0;
}

template <DType kType, RedOp kOp>
__global__ void __launch_bounds__(kBlockThreads) run_lanes(const DeviceRun run) {
  __shared__ std::byte* operands[kMaxSources];
  BlockAgent<kType, kOp, DeviceThreads> agent(run.context, *run.epoch, operands, DeviceThreads());
  LaneState lane = start_of(run.lanes[blockIdx.x]);
  for (;;) {
    const Step did = step(run.view, lane, agent);
    if (did == Step::done) return;
    if (did == Step::blocked && aborted(run.abort)) return;
  }
}

/// Before the lanes start: the next epoch, all counts 0.
__global__ void begin_run(const DeviceRun run) {
  for (std::uint32_t i = threadIdx.x; i < run.semaphore_count; i += blockDim.x) run.view.consumed[i] = 0;
  for (std::uint32_t i = threadIdx.x; i < run.signal_count; i += blockDim.x) run.view.signalled[i] = 0;
  if (threadIdx.x == 0) ++*run.epoch;
}

using Kernel = void (*)(DeviceRun);

template <DType kType, RedOp kOp>
constexpr Kernel kernel_for() {
  if constexpr (serves(kOp, kType)) {
    return run_lanes<kType, kOp>;
  } else {
    return nullptr;
  }
}

template <DType kType, std::size_t... kOps>
constexpr std::array<Kernel, kRedOpCount> kernels_of_type(std::index_sequence<kOps...>) {
  return {kernel_for<kType, static_cast<RedOp>(kOps)>()...};
}

template <std::size_t... kTypes>
constexpr auto all_kernels(std::index_sequence<kTypes...>) {
  return std::array{kernels_of_type<static_cast<DType>(kTypes)>(std::make_index_sequence<kRedOpCount>())...};
}

constexpr auto kKernels = all_kernels(std::make_index_sequence<kDTypeCount>());

Kernel kernel_of(DType dtype, RedOp op) {
  if (op == RedOp::user || !serves(op, dtype)) {
    throw Unsupported(std::string(name_of(op)) + " of " + std::string(name_of(dtype)) + " has no kernel");
  }
  return kKernels[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(op)];
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw CudaError(std::string(what) + ": " + cudaGetErrorString(error));
}

}  // namespace

void launch(DType dtype, RedOp op, const DeviceRun& run, CUstream_st* stream) {
  const Kernel kernel = kernel_of(dtype, op);
  if (run.lane_count == 0) return;
  begin_run<<<1, kBlockThreads, 0, stream>>>(run);
  check(cudaGetLastError(), "starting a run");
  DeviceRun argument = run;
  void* arguments[] = {&argument};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(run.lane_count), dim3(kBlockThreads),
                                    arguments, 0, stream),
        "launching the lanes");
}

int max_lanes(DType dtype, RedOp op) {
  const Kernel kernel = kernel_of(dtype, op);
  int device = 0;
  int processors = 0;
  int blocks = 0;
  check(cudaGetDevice(&device), "current device");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "number of multiprocessors");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kBlockThreads, 0), "occupancy");
  return processors * blocks;
}

}  // namespace umbel::kernels
