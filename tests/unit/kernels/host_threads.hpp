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

/// Calls `body.template operator()<type, op>()` where the pair is the `kPair`th.
template <std::size_t kPair, class Body>
bool dispatch_one(std::size_t pair, Body& body) {
  constexpr auto kType = static_cast<DType>(kPair / kRedOpCount);
  constexpr auto kOp = static_cast<RedOp>(kPair % kRedOpCount);
  if constexpr (serves(kOp, kType)) {
    if (pair == kPair) body.template operator()<kType, kOp>();
  }
  return pair == kPair;
}

template <class Body, std::size_t... kPairs>
void dispatch(DType dtype, RedOp op, Body body, std::index_sequence<kPairs...>) {
  const std::size_t pair = static_cast<std::size_t>(dtype) * kRedOpCount + static_cast<std::size_t>(op);
  static_cast<void>((dispatch_one<kPairs>(pair, body) || ...));
}

/// Calls `body.template operator()<type, op>()` for a pair of which the operator serves the type: 134 instances.
template <class Body>
void dispatch(DType dtype, RedOp op, Body body) {
  dispatch(dtype, op, body, std::make_index_sequence<std::size_t{kDTypeCount} * kRedOpCount>());
}

}  // namespace umbel::test
