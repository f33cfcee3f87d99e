// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/splitting.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace umbel::runtime {
namespace {

/// What each rank says first. Plain data.
struct Wish {
  int color = 0;
  int key = 0;
};

/// The bootstrap of one part of a communicator, by all-gathers over the whole of it. The parts do not all gather
/// equally often nor equally much: each round begins with every rank's saying how much its part gathers, the most is
/// what all gather, and a rank whose part is through takes part until all are.
class Rounds {
 public:
  explicit Rounds(Communicator& parent) : parent_(parent), wanted_(static_cast<std::size_t>(parent.info().ranks)) {}

  template <class T>
  std::vector<T> gather(const T& mine) {
    std::vector<T> all(wanted_.size());
    gather(&mine, all.data(), sizeof(T));
    return all;
  }

  /// The data of all ranks of the parent; `bytes` of each.
  const std::vector<std::byte>& round(const void* send, std::size_t bytes) {
    (void)most(bytes);
    gather_padded(send, bytes);
    return data_;
  }
  /// Of each rank's data in what round() gave.
  std::size_t stride() const { return stride_; }

  /// This rank's part is through.
  void leave() {
    while (most(kThrough)) gather_padded(nullptr, 0);
  }

 private:
  static constexpr std::uint64_t kThrough = ~std::uint64_t{0};

  void gather(const void* send, void* recv, std::size_t bytes) {
    parent_.run({.collective = Collective::all_gather, .send = send, .recv = recv, .count = bytes});
  }

  void gather_padded(const void* send, std::size_t bytes) {
    std::vector<std::byte> padded(stride_);
    if (bytes != 0) std::memcpy(padded.data(), send, bytes);
    data_.resize(stride_ * wanted_.size());
    gather(padded.data(), data_.data(), stride_);
  }

  /// Sets the round's stride. False when all parts are through.
  bool most(std::uint64_t mine) {
    gather(&mine, wanted_.data(), sizeof(mine));
    stride_ = 0;
    bool any = false;
    for (const std::uint64_t bytes : wanted_) {
      if (bytes == kThrough) continue;
      any = true;
      stride_ = std::max(stride_, static_cast<std::size_t>(bytes));
    }
    return any;
  }

  Communicator& parent_;
  std::vector<std::uint64_t> wanted_;
  std::vector<std::byte> data_;
  std::size_t stride_ = 0;
};

/// The ranks of the parent with this color, in their new order.
std::vector<Rank> part_of(const std::vector<Wish>& wishes, int color) {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < wishes.size(); ++rank)
    if (wishes[rank].color == color) ranks.push_back(static_cast<Rank>(rank));
  std::ranges::stable_sort(ranks, {}, [&](Rank rank) { return wishes[static_cast<std::size_t>(rank)].key; });
  return ranks;
}

/// The placement of `ranks` as UMBEL_NODES takes it.
std::string placement_of(const Shape& shape, const std::vector<Rank>& ranks) {
  if (ranks.size() == 1) return "1";
  std::string text;
  for (const Rank rank : ranks) {
    std::string path;
    for (const int id : shape.path_of(rank)) path += (path.empty() ? "" : "/") + std::to_string(id);
    text += (text.empty() ? "" : ",") + path;
  }
  return text;
}

}  // namespace

std::unique_ptr<Communicator> split_by(Communicator& parent, int color, int key, CommOptions options) {
  Rounds rounds(parent);
  const std::vector<Rank> ranks = part_of(rounds.gather(Wish{color, key}), color);
  if (color < 0) {
    rounds.leave();
    return nullptr;
  }
  const auto take = [&](const void* send, void* recv, std::size_t bytes) {
    const std::vector<std::byte>& all = rounds.round(send, bytes);
    for (std::size_t n = 0; n < ranks.size() && bytes != 0; ++n)
      std::memcpy(static_cast<std::byte*>(recv) + n * bytes,
                  all.data() + static_cast<std::size_t>(ranks[n]) * rounds.stride(), bytes);
  };
  const net::Bootstrap bootstrap{
      .rank = static_cast<Rank>(std::ranges::find(ranks, parent.info().rank) - ranks.begin()),
      .size = static_cast<int>(ranks.size()),
      .allgather = take,
      .barrier = [&] { take(nullptr, nullptr, 0); },
  };
  options.placement = parent.placed_by_user() ? placement_of(parent.shape(), ranks) : "";
  options.tuning = TuningUse::where_readable;
  std::unique_ptr<Communicator> made;
  try {
    made = Communicator::create(bootstrap, options);
  } catch (...) {
    rounds.leave();
    throw;
  }
  rounds.leave();
  return made;
}

}  // namespace umbel::runtime
