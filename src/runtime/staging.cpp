// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/staging.hpp"

#include <cstring>
#include <utility>

#include "kernels/host/convert.hpp"
#include "runtime/planner.hpp"

namespace umbel::runtime {
namespace {

bool premultiplied(const CallArgs& args) { return args.custom && args.op != RedOp::user; }

}  // namespace

bool Staging::widens(const CallArgs& args) const {
  return in_order_ && reduces(args.collective) && args.op != RedOp::user &&
         arithmetic_of(args.dtype, args.op) == Arithmetic::widened;
}

const CallArgs& Staging::shape_of(const CallArgs& args) {
  const bool wide = widens(args);
  if (!wide && !premultiplied(args)) return args;
  shape_ = args;
  if (premultiplied(args)) shape_.custom = nullptr;
  if (!wide) return shape_;
  shape_.dtype = DType::fp32;
  if (args.op == RedOp::avg) shape_.op = RedOp::sum;
  return shape_;
}

void Staging::begin(const CallArgs& args, InPlace in_place) {
  running_ = shape_of(args);
  staged_ = premultiplied(args) || widens(args) || in_place == InPlace::exchanged || in_place == InPlace::at_start;
  if (!staged_) return;
  given_ = args;
  in_place_ = in_place;
  if (premultiplied(args)) premultiply();
  if (widens(args)) {
    widen();
  } else if (in_place_ == InPlace::exchanged) {
    copy_input();
  } else if (in_place_ == InPlace::at_start) {
    running_.recv = copy_.take(buffer_bytes(args, me_, ranks_).output);
  }
}

/// Of a v-form the shares without the gaps between them, which need not be memory.
void Staging::copy_input() {
  const std::byte* given = static_cast<const std::byte*>(given_.send);
  std::byte* copy = nullptr;
  if (given_.shares == nullptr) {
    const std::size_t bytes = buffer_bytes(given_, me_, ranks_).input;
    copy = copy_.take(bytes);
    std::memcpy(copy, given, bytes);
  } else {
    const std::size_t elem = size_of(given_.dtype);
    auto shares = std::make_shared<ShareLists>(*given_.shares);
    shares->input.first = packed(shares->input.count);
    const auto& [count, first] = shares->input;
    copy = copy_.take((first.back() + count.back()) * elem);
    for (std::size_t r = 0; r < count.size(); ++r)
      if (count[r] != 0)
        std::memcpy(copy + first[r] * elem, given + given_.shares->input.first[r] * elem, count[r] * elem);
    running_.shares = std::move(shares);
  }
  running_.send = copy;
  in_place_ = InPlace::no;
}

/// The products take the place of the input: in the output where that is as long, else in memory of their own.
void Staging::premultiply() {
  const BufferBytes bytes = buffer_bytes(given_, me_, ranks_);
  const bool in_output = bytes.output == bytes.input && plain(given_.collective) != Collective::reduce_scatter;
  std::byte* products = in_output ? static_cast<std::byte*>(given_.recv) : products_.take(bytes.input);
  kernels::scale(given_.dtype, products, given_.send, bytes.input / size_of(given_.dtype),
                 given_.custom->scalar.data());
  running_.send = products;
  in_place_ = in_output ? InPlace::aligned : InPlace::no;
}

void Staging::widen() {
  const std::size_t elements = buffer_bytes(given_, me_, ranks_).input / size_of(given_.dtype);
  auto* wide = reinterpret_cast<float*>(copy_.take(elements * sizeof(float)));
  kernels::widen(given_.dtype, wide, running_.send, elements);
  const auto own = static_cast<std::size_t>(me_);
  const bool share = plain(given_.collective) == Collective::reduce_scatter;
  const std::size_t place = given_.shares != nullptr ? given_.shares->input.first[own] : own * given_.count;
  running_.send = wide;
  running_.recv = share ? wide + place : wide;
  in_place_ = InPlace::aligned;
}

void Staging::finish() {
  if (!staged_) return;
  const BufferBytes bytes = buffer_bytes(given_, me_, ranks_);
  if (bytes.output == 0) return;
  if (widens(given_)) {
    kernels::narrow(given_.dtype, given_.recv, static_cast<const float*>(running_.recv),
                    bytes.output / size_of(given_.dtype),
                    given_.op == RedOp::avg ? static_cast<std::uint32_t>(ranks_) : 0U);
  } else if (in_place_ == InPlace::at_start) {
    std::memcpy(given_.recv, running_.recv, bytes.output);
  }
}

std::byte* Staging::Kept::take(std::size_t bytes) {
  if (bytes_ < bytes) {
    if (registered_)
      block_ = RegisteredBlock(bytes);
    else
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    bytes_ = bytes;
  }
  return registered_ ? static_cast<std::byte*>(block_.data()) : memory_.get();
}

}  // namespace umbel::runtime
