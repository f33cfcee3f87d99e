// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// One call of any collective against scalar code: what each rank gives, what it must get, how the buffers may lie, and
// what must stay as it is.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/collective.hpp"
#include "support/reference.hpp"

namespace umbel::test {

struct Case {
  Collective collective = Collective::all_reduce;
  std::size_t count = 0;
  DType dtype = DType::fp32;
  RedOp op = RedOp::sum;
  Rank root = 0;
  std::uint64_t salt = 0;
};

inline std::string text_of(const Case& c) {
  return fmt::format("{} of {} {} {} root {} salt {}", name_of(c.collective), c.count, name_of(c.dtype), name_of(c.op),
                     c.root, c.salt);
}

inline std::size_t elements_of(Part part, const Case& c, int ranks) {
  if (part == Part::none) return 0;
  return part == Part::share || !ranked(c.collective) ? c.count : c.count * static_cast<std::size_t>(ranks);
}

inline std::vector<std::byte> slice_of(const std::vector<std::byte>& data, std::size_t first, std::size_t bytes) {
  const auto begin = data.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

inline std::vector<std::byte> input_of(const Case& c, Rank rank, int ranks) {
  const std::size_t count = elements_of(input_part(c.collective, rank == c.root), c, ranks);
  return make_input(rank, count, c.dtype, c.op, c.salt);
}

/// What `rank` must get.
inline std::vector<std::byte> output_of(const Case& c, Rank rank, int ranks) {
  const std::size_t share = c.count * size_of(c.dtype);
  const auto at = [&](Rank r) { return static_cast<std::size_t>(r) * share; };
  if (output_part(c.collective, rank == c.root) == Part::none) return {};
  switch (c.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
      return expected_result(ranks, c.count, c.dtype, c.op, c.salt);
    case Collective::reduce_scatter:
      return slice_of(expected_result(ranks, c.count * static_cast<std::size_t>(ranks), c.dtype, c.op, c.salt),
                      at(rank), share);
    case Collective::broadcast:
      return input_of(c, c.root, ranks);
    case Collective::scatter:
      return slice_of(input_of(c, c.root, ranks), at(rank), share);
    default:
      break;
  }
  std::vector<std::byte> all;
  for (Rank source = 0; source < ranks; ++source) {
    std::vector<std::byte> given = input_of(c, source, ranks);
    if (c.collective == Collective::all_to_all) given = slice_of(given, at(rank), share);
    all.insert(all.end(), given.begin(), given.end());
  }
  return all;
}

/// How a rank's buffers lie; see runtime/arguments.hpp. `at_start` is in-place where there is no such form.
enum class Placed : std::uint8_t { apart, in_place, at_start };

/// Where a test takes its buffers from.
using TakeMemory = std::function<std::shared_ptr<std::byte[]>(std::size_t bytes)>;
inline std::shared_ptr<std::byte[]> from_heap(std::size_t bytes) {
  return std::make_shared_for_overwrite<std::byte[]>(bytes);
}

/// Memory between canaries, `shift` bytes off a cache line.
class Guarded {
 public:
  Guarded(const std::vector<std::byte>& content, std::size_t bytes, std::size_t shift, const TakeMemory& take)
      : bytes_(std::max(bytes, content.size())), size_(bytes_ + 2 * kCanary + 128), memory_(take(size_)) {
    std::fill_n(memory_.get(), size_, kMark);
    const auto base = reinterpret_cast<std::uintptr_t>(memory_.get()) + kCanary;
    offset_ = kCanary + (64 - base % 64) % 64 + shift % 64;
    std::copy(content.begin(), content.end(), data());
  }
  std::byte* data() { return memory_.get() + offset_; }
  bool intact() const {
    for (std::size_t k = 0; k < size_; ++k)
      if ((k < offset_ || k >= offset_ + bytes_) && memory_[k] != kMark) return false;
    return true;
  }

 private:
  static constexpr std::size_t kCanary = 64;
  static constexpr std::byte kMark{0xa5};
  std::size_t bytes_;
  std::size_t size_;
  std::shared_ptr<std::byte[]> memory_;
  std::size_t offset_ = 0;
};

/// A result that is not what the scalar code says.
struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using RunCase = std::function<void(const Case&, const void* send, void* recv)>;

/// Calls and checks: the result, what must not have been written, the surroundings. @throws WrongResult
/// @param take  asked for the send buffer first, then the other; for one that is both, once
inline void check_case(const Case& c, Rank me, int ranks, Placed placed, std::size_t shift, const RunCase& run,
                       const TakeMemory& take = from_heap) {
  const std::vector<std::byte> input = input_of(c, me, ranks), expected = output_of(c, me, ranks);
  const auto wrong = [&](const std::string& what) {
    return WrongResult(fmt::format("rank {} of {}: {}: {} (placed {}, shift {})", me, ranks, what, text_of(c),
                                   static_cast<int>(placed), shift));
  };
  const std::size_t share = c.count * size_of(c.dtype), own = static_cast<std::size_t>(me) * share;
  if (placed == Placed::apart || input.empty() || expected.empty()) {
    Guarded send(input, 0, shift, take), recv({}, expected.size(), shift / 2, take);
    run(c, input.empty() ? nullptr : send.data(), expected.empty() ? nullptr : recv.data());
    if (!std::equal(expected.begin(), expected.end(), recv.data())) throw wrong("a wrong result");
    if (!std::equal(input.begin(), input.end(), send.data())) throw wrong("the input was written");
    if (!send.intact() || !recv.intact()) throw wrong("wrote outside of the buffers");
    return;
  }
  // One buffer for both: the longer one holds the other.
  const bool share_in = input.size() < expected.size(), share_out = expected.size() < input.size();
  std::vector<std::byte> content = input;
  if (share_in) {
    content.assign(expected.size(), std::byte{0x5a});
    std::copy(input.begin(), input.end(), content.begin() + static_cast<std::ptrdiff_t>(own));
  }
  const bool at_start = placed == Placed::at_start && c.collective == Collective::reduce_scatter;
  const std::size_t out = share_out && !at_start ? own : 0;
  Guarded both(content, 0, shift, take);
  run(c, both.data() + (share_in ? own : 0), both.data() + out);
  std::copy(expected.begin(), expected.end(), content.begin() + static_cast<std::ptrdiff_t>(out));
  if (!std::equal(content.begin(), content.end(), both.data())) throw wrong("a wrong result, or more was written");
  if (!both.intact()) throw wrong("wrote outside of the buffers");
}

}  // namespace umbel::test
