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

/// Where in the periodic sequence the data of an iteration stands, `from` elements after its beginning.
std::size_t position_of(std::uint64_t iteration, std::size_t from) {
  return (shift_of(iteration) + from % Pattern::kPeriod) % Pattern::kPeriod;
}

/// visit(offset in the data, offset in the table, elements) for each piece of `count` elements that lies contiguous in
/// a table of `length` elements, repeated, from `position` on.
template <class Visit>
void for_each_piece(std::size_t count, std::size_t position, std::size_t length, Visit&& visit) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t piece = std::min(count - done, length - position);
    visit(done, position, piece);
    done += piece;
    position = 0;
  }
}

/// An element of any bits.
void random_element(std::uint64_t seed, int rank, std::size_t index, std::byte* element, std::size_t size) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  for (std::size_t at = 0; at < size; at += kWord) {
    const std::uint64_t bits = random_of(seed + at, rank, index);
    std::memcpy(element + at, &bits, std::min(kWord, size - at));
  }
}

}  // namespace

Pattern::Pattern(const TypeInfo& type, const OpInfo& op, int ranks, int rank, std::uint64_t seed)
    : size_(type.size), seed_(seed), input_(kPeriod * type.size), expected_(kPeriod * type.size) {
  for (std::size_t i = 0; i < kPeriod; ++i) {
    encode(type, input_element(type, op, ranks, rank, seed, i), &input_[i * size_]);
    encode(type, expected_element(type, op, ranks, seed, i), &expected_[i * size_]);
  }
}

Pattern::Pattern(const TypeInfo& type, int rank, std::uint64_t seed)
    : size_(type.size), seed_(seed), input_(kPeriod * type.size) {
  for (std::size_t i = 0; i < kPeriod; ++i) random_element(seed, rank, i, &input_[i * size_], size_);
}

void Pattern::fill(void* input, std::size_t count, std::uint64_t iteration) const {
  auto* bytes = static_cast<std::byte*>(input);
  for_each_piece(count, position_of(iteration, 0), kPeriod,
                 [&](std::size_t at, std::size_t from, std::size_t elements) {
                   std::memcpy(bytes + at * size_, &input_[from * size_], elements * size_);
                 });
}

std::size_t Pattern::wrong_results(const void* result, std::size_t count, std::uint64_t iteration,
                                   std::size_t from) const {
  return count_wrong(expected_, position_of(iteration, from), result, count);
}

std::size_t Pattern::wrong_inputs(const void* input, std::size_t count, std::uint64_t iteration,
                                  std::size_t from) const {
  return count_wrong(input_, position_of(iteration, from), input, count);
}

/// The source's sequence is made again, as far as it is needed: tables of all ranks would be too much to keep.
std::size_t Pattern::wrong_copies(int source, const void* data, std::size_t count, std::uint64_t iteration,
                                  std::size_t from) const {
  const std::size_t position = position_of(iteration, from);
  std::vector<std::byte> window(std::min(count, kPeriod) * size_);
  for (std::size_t i = 0; i * size_ < window.size(); ++i) {
    random_element(seed_, source, (position + i) % kPeriod, &window[i * size_], size_);
  }
  return count_wrong(window, 0, data, count);
}

std::size_t Pattern::count_wrong(const std::vector<std::byte>& table, std::size_t position, const void* data,
                                 std::size_t count) const {
  const auto* bytes = static_cast<const std::byte*>(data);
  std::size_t wrong = 0;
  for_each_piece(count, position, table.size() / size_, [&](std::size_t at, std::size_t from, std::size_t elements) {
    if (std::memcmp(bytes + at * size_, &table[from * size_], elements * size_) == 0) return;
    for (std::size_t i = 0; i < elements; ++i) {
      wrong += std::memcmp(bytes + (at + i) * size_, &table[(from + i) * size_], size_) != 0 ? 1U : 0U;
    }
  });
  return wrong;
}

}  // namespace umbel::bench
