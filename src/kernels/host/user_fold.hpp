// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/types.hpp"
#include "base/user_op.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/reduce.hpp"

namespace umbel::kernels {

/// right[i] = left[i] op right[i], by the caller's function. @throws std::runtime_error whatever that throws
inline void call_user(const UserOp& op, const std::byte* left, std::byte* right, std::size_t count, DType dtype) {
  try {
    op.fold(left, right, count, dtype, op.context);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("the user-defined operator threw an exception: ") + error.what());
  } catch (...) {
    throw std::runtime_error("the user-defined operator threw something that is no std::exception");
  }
}

/// dst[i] = source 0's element i op source 1's op …, from left to right, by a caller's operator, which overwrites its
/// right operand: each source is fetched into one of two places in turn, and the result so far, in the other place, is
/// folded into it from the left. The sources stay as they are; the destination, which may be one, is written last.
/// @param fetch    fetch(k, first, count, into): `count` elements of source k, from `first` on, as bytes at `into`
/// @param scratch  room for two elements at least; what does not fit into a half of it is done in parts
template <class Fetch>
void fold_by_user(const UserOp& op, DType dtype, std::byte* dst, int source_count, std::size_t count,
                  std::span<std::byte> scratch, Fetch fetch) {
  constexpr std::size_t kLine = 64;
  const std::size_t size = size_of(dtype);
  const std::size_t half = scratch.size() / 2 < kLine ? scratch.size() / 2 : scratch.size() / 2 / kLine * kLine;
  const std::size_t most = half / size;
  for (std::size_t done = 0; done < count;) {
    const std::size_t now = std::min(count - done, most);
    std::byte* result = scratch.data();
    std::byte* other = scratch.data() + half;
    fetch(0, done, now, result);
    for (int k = 1; k < source_count; ++k) {
      fetch(k, done, now, other);
      call_user(op, result, other, now, dtype);
      std::swap(result, other);
    }
    kernels::copy(dst + done * size, result, now * size);
    done += now;
  }
}

}  // namespace umbel::kernels
