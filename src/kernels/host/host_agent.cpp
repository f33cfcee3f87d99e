// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "kernels/host/host_agent.hpp"

#include <algorithm>
#include <utility>

#include "kernels/host/copy.hpp"
#include "kernels/host/reduce.hpp"
#include "kernels/host/user_fold.hpp"

namespace umbel::kernels {
namespace {

/// Shared by all operands that must be fetched: stays in the second-level cache until it is folded.
constexpr std::size_t kBounceBytes = 256U << 10U;

}  // namespace

HostAgent::HostAgent(HostContext context) : context_(std::move(context)) {}

HostAgent::Operand HostAgent::resolve(const Slice& slice, std::uint64_t offset) const {
  const auto rank = static_cast<std::size_t>(slice.rank);
  Operand operand;
  operand.rank = slice.rank;
  operand.buffer = slice.buffer;
  operand.offset = offset;
  std::byte* base = nullptr;
  switch (slice.buffer) {
    case Buffer::input:
      base = context_.input[rank];
      break;
    case Buffer::output:
      base = context_.output[rank];
      break;
    case Buffer::window:
      base = context_.window[rank];
      break;
  }
  operand.mapped = base == nullptr ? nullptr : base + operand.offset;
  return operand;
}

void HostAgent::fetch(const Operand& src, std::uint64_t first, std::uint64_t count, std::byte* into) {
  const std::uint64_t skip = first * size_of(context_.dtype);
  const std::uint64_t bytes = count * size_of(context_.dtype);
  if (src.mapped == nullptr) {
    context_.reader(src.rank, src.buffer, src.offset + skip, into, bytes);
  } else {
    kernels::copy(into, src.mapped + skip, bytes);
  }
}

void HostAgent::copy(const Operand& dst, const Operand& src, std::uint64_t first, std::uint64_t count) {
  if (context_.past_cache && dst.buffer == Buffer::output && src.mapped != nullptr) {
    const std::uint64_t skip = first * size_of(context_.dtype);
    return copy_past_cache(dst.mapped + skip, src.mapped + skip, count * size_of(context_.dtype));
  }
  fetch(src, first, count, dst.mapped + first * size_of(context_.dtype));
}

void HostAgent::reduce(const Operand& dst, const Operand* sources, int source_count, std::uint64_t first,
                       std::uint64_t count, bool final) {
  if (context_.op == RedOp::user) return reduce_by_user(dst, sources, source_count, first, count);
  const std::uint64_t skip = first * size_of(context_.dtype);
  const std::uint32_t divisor = final && context_.op == RedOp::avg ? context_.divisor : 0;
  int unmapped = 0;
  for (int k = 0; k < source_count; ++k) {
    if (sources[k].mapped == nullptr) {
      ++unmapped;
    } else {
      addresses_[static_cast<std::size_t>(k)] = sources[k].mapped + skip;
    }
  }
  if (unmapped != 0) {
    reduce_through_bounce(dst, sources, source_count, unmapped, first, count, divisor);
    return;
  }
  kernels::reduce(context_.dtype, context_.op, dst.mapped + skip, addresses_.data(), source_count, count, divisor);
}

void HostAgent::reduce_by_user(const Operand& dst, const Operand* sources, int source_count, std::uint64_t first,
                               std::uint64_t count) {
  bounce_.resize(kBounceBytes);
  fold_by_user(
      *context_.user, context_.dtype, dst.mapped + first * size_of(context_.dtype), source_count, count, bounce_,
      [&](int k, std::size_t at, std::size_t some, std::byte* into) { fetch(sources[k], first + at, some, into); });
}

void HostAgent::reduce_through_bounce(const Operand& dst, const Operand* sources, int source_count, int unmapped,
                                      std::uint64_t first, std::uint64_t count, std::uint32_t divisor) {
  bounce_.resize(kBounceBytes);
  const std::uint64_t elem_bytes = size_of(context_.dtype);
  constexpr std::uint64_t kLine = 64;
  const std::uint64_t area = kBounceBytes / static_cast<std::uint64_t>(unmapped) / kLine * kLine;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t now = std::min(count - done, area / elem_bytes);
    const std::uint64_t skip = (first + done) * elem_bytes;
    std::byte* next = bounce_.data();
    for (int k = 0; k < source_count; ++k) {
      const Operand& source = sources[k];
      const std::byte* at = source.mapped == nullptr ? next : source.mapped + skip;
      if (source.mapped == nullptr) {
        context_.reader(source.rank, source.buffer, source.offset + skip, next, now * elem_bytes);
        next += area;
      }
      addresses_[static_cast<std::size_t>(k)] = at;
    }
    kernels::reduce(context_.dtype, context_.op, dst.mapped + skip, addresses_.data(), source_count, now, divisor);
    done += now;
  }
}

}  // namespace umbel::kernels
