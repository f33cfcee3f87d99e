// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// A thread block made of host threads, for the block agent.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/types.hpp"

namespace umbel::test {

/// What the threads of a block share.
struct HostBlock {
  explicit HostBlock(unsigned threads) : width(threads), barrier(static_cast<std::ptrdiff_t>(threads)) {}
  unsigned width;
  std::barrier<> barrier;
  std::atomic<bool> said{false};
};

/// One thread of a block, as BlockAgent wants it.
class HostThreads {
 public:
  HostThreads(HostBlock& block, unsigned index) : block_(&block), index_(index) {}

  unsigned index() const { return index_; }
  unsigned width() const { return block_->width; }
  void barrier() { block_->barrier.arrive_and_wait(); }
  bool any(bool mine) {
    if (mine) block_->said = true;
    barrier();
    const bool result = block_->said;
    barrier();
    if (index_ == 0) block_->said = false;
    barrier();
    return result;
  }
  std::uint64_t load_acquire(std::uint64_t* flag) { return cell(flag)->load(std::memory_order_acquire); }
  void store_release(std::uint64_t* flag, std::uint64_t value) { cell(flag)->store(value, std::memory_order_release); }

 private:
  static std::atomic<std::uint64_t>* cell(std::uint64_t* flag) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(flag);
  }

  HostBlock* block_;
  unsigned index_;
};

template <DType kType, RedOp kOp, class Body>
void call_if_served(RedOp op, Body& body) {
  if constexpr (serves(kOp, kType)) {
    if (op == kOp) body.template operator()<kType, kOp>();
  }
}

template <DType kType, class Body, std::size_t... kOps>
void dispatch_op(DType dtype, RedOp op, Body& body, std::index_sequence<kOps...>) {
  if (dtype == kType) (call_if_served<kType, static_cast<RedOp>(kOps)>(op, body), ...);
}

template <class Body, std::size_t... kTypes>
void dispatch_type(DType dtype, RedOp op, Body& body, std::index_sequence<kTypes...>) {
  (dispatch_op<static_cast<DType>(kTypes)>(dtype, op, body, std::make_index_sequence<kRedOpCount>()), ...);
}

/// Calls `body.template operator()<type, op>()` for a pair of which the operator serves the type: 134 instances.
template <class Body>
void dispatch(DType dtype, RedOp op, Body body) {
  dispatch_type(dtype, op, body, std::make_index_sequence<kDTypeCount>());
}

}  // namespace umbel::test
