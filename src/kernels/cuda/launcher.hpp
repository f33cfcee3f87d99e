// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Runs a program's memory lanes on a GPU: one cooperative launch, one thread block a lane. No CUDA headers here.
#pragma once

#include <cstdint>

#include "base/types.hpp"
#include "kernels/cuda/block_agent.hpp"
#include "kernels/interpreter.hpp"

struct CUstream_st;

namespace umbel::kernels {

/// One call on the device. All pointers, those inside the view too, are to memory that the GPU can read.
struct DeviceRun {
  ProgramView view{};
  BlockContext context{};
  const Lane* lanes = nullptr;  ///< memory lanes
  std::uint32_t lane_count = 0;
  std::uint32_t semaphore_count = 0;     ///< elements of view.consumed
  std::uint32_t signal_count = 0;        ///< elements of view.signalled
  std::uint32_t* epoch = nullptr;        ///< of the bank; the launch counts it up, so that a captured graph can replay
  const std::uint32_t* abort = nullptr;  ///< lanes that wait give up when this is not 0
};

/// Threads of a block.
inline constexpr unsigned kBlockThreads = 512;

/// Enqueues the call on `stream`; returns at once.
/// @throws CudaError, also when the lanes cannot all be resident (see max_lanes); Unsupported: `op` does not serve
/// `dtype`, or is the caller's
void launch(DType dtype, RedOp op, const DeviceRun& run, CUstream_st* stream);

/// How many lanes the current device can hold at once. @throws CudaError
int max_lanes(DType dtype, RedOp op);

}  // namespace umbel::kernels
