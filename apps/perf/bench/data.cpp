// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "data.hpp"

#include <algorithm>
#include <cstring>

namespace umbel::bench {
namespace {

std::size_t shift_of(std::uint64_t iteration) {
  constexpr std::uint64_t kStride = 7919;  // far enough that consecutive iterations of small counts share nothing
  return static_cast<std::size_t>((iteration % Pattern::kPeriod) * kStride % Pattern::kPeriod);
}

/// visit(offset in the data, offset in the table, elements) for each piece of `count` elements that lies contiguous in
/// the periodic table.
template <class Visit>
void for_each_piece(std::size_t count, std::uint64_t iteration, Visit&& visit) {
  std::size_t position = shift_of(iteration);
  for (std::size_t done = 0; done < count;) {
    const std::size_t piece = std::min(count - done, Pattern::kPeriod - position);
    visit(done, position, piece);
    done += piece;
    position = 0;
  }
}

}  // namespace

Pattern::Pattern(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed)
    : size_(type.size), input_(kPeriod * type.size), expected_(kPeriod * type.size) {
  for (std::size_t i = 0; i < kPeriod; ++i) {
    encode(type, input_element(type, op, ranks, rank, seed, i), &input_[i * size_]);
    encode(type, expected_element(type, op, ranks, seed, i), &expected_[i * size_]);
  }
}

void Pattern::fill(void* input, std::size_t count, std::uint64_t iteration) const {
  auto* bytes = static_cast<std::byte*>(input);
  for_each_piece(count, iteration, [&](std::size_t at, std::size_t from, std::size_t elements) {
    std::memcpy(bytes + at * size_, &input_[from * size_], elements * size_);
  });
}

std::size_t Pattern::wrong_results(const void* result, std::size_t count, std::uint64_t iteration) const {
  return count_wrong(expected_, result, count, iteration);
}

std::size_t Pattern::wrong_inputs(const void* input, std::size_t count, std::uint64_t iteration) const {
  return count_wrong(input_, input, count, iteration);
}

std::size_t Pattern::count_wrong(const std::vector<std::byte>& table, const void* data, std::size_t count,
                                 std::uint64_t iteration) const {
  const auto* bytes = static_cast<const std::byte*>(data);
  std::size_t wrong = 0;
  for_each_piece(count, iteration, [&](std::size_t at, std::size_t from, std::size_t elements) {
    if (std::memcmp(bytes + at * size_, &table[from * size_], elements * size_) == 0) return;
    for (std::size_t i = 0; i < elements; ++i) {
      wrong += std::memcmp(bytes + (at + i) * size_, &table[(from + i) * size_], size_) != 0 ? 1U : 0U;
    }
  });
  return wrong;
}

}  // namespace umbel::bench
