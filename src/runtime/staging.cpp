// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/staging.hpp"

#include <cstring>
#include <utility>

#include "kernels/host/convert.hpp"
#include "runtime/planner.hpp"

namespace umbel::runtime {

bool Staging::widens(const CallArgs& args) const {
  return in_order_ && reduces(args.collective) && args.op != RedOp::user &&
         arithmetic_of(args.dtype, args.op) == Arithmetic::widened;
}

CallArgs Staging::shape_of(const CallArgs& args) const {
  CallArgs shape = args;
  if (args.custom && args.op != RedOp::user) shape.custom = nullptr;
  if (!widens(args)) return shape;
  shape.dtype = DType::fp32;
  if (args.op == RedOp::avg) shape.op = RedOp::sum;
  return shape;
}

Staging::Staged Staging::begin(const CallArgs& args, InPlace in_place) {
  args_ = args;
  staged_ = {.args = shape_of(args), .in_place = in_place};
  const BufferBytes bytes = buffer_bytes(args, me_, ranks_);
  if (args.custom && args.op != RedOp::user) premultiply(staged_);
  if (widens(args)) return staged_ = widen();
  if (staged_.in_place == InPlace::exchanged) {
    copy_input();
  } else if (staged_.in_place == InPlace::at_start) {
    staged_.args.recv = memory(bytes.output);
  }
  return staged_;
}

/// Of a v-form the shares without the gaps between them, which need not be memory.
void Staging::copy_input() {
  const std::byte* given = static_cast<const std::byte*>(args_.send);
  if (args_.shares == nullptr) {
    const std::size_t bytes = buffer_bytes(args_, me_, ranks_).input;
    std::memcpy(memory(bytes), given, bytes);
  } else {
    const std::size_t elem = size_of(args_.dtype);
    auto shares = std::make_shared<ShareLists>(*args_.shares);
    shares->input.first = packed(shares->input.count);
    const auto& [count, first] = shares->input;
    std::byte* copy = memory((first.back() + count.back()) * elem);
    for (std::size_t r = 0; r < count.size(); ++r)
      if (count[r] != 0)
        std::memcpy(copy + first[r] * elem, given + args_.shares->input.first[r] * elem, count[r] * elem);
    staged_.args.shares = std::move(shares);
  }
  staged_.args.send = memory_.get();
  staged_.in_place = InPlace::no;
}

/// The products take the place of the input: in the output where that is as long, else in memory of their own.
void Staging::premultiply(Staged& staged) {
  const BufferBytes bytes = buffer_bytes(args_, me_, ranks_);
  std::byte* products = static_cast<std::byte*>(args_.recv);
  if (bytes.output == bytes.input && plain(args_.collective) != Collective::reduce_scatter) {
    staged.in_place = InPlace::aligned;
  } else {
    products_ = std::make_unique_for_overwrite<std::byte[]>(bytes.input);
    products = products_.get();
    staged.in_place = InPlace::no;
  }
  kernels::scale(args_.dtype, products, args_.send, bytes.input / size_of(args_.dtype), args_.custom->scalar.data());
  staged.args.send = products;
}

Staging::Staged Staging::widen() {
  const BufferBytes bytes = buffer_bytes(args_, me_, ranks_);
  const std::size_t elements = bytes.input / size_of(args_.dtype);
  auto* wide = reinterpret_cast<float*>(memory(elements * sizeof(float)));
  kernels::widen(args_.dtype, wide, staged_.args.send, elements);
  Staged staged = staged_;
  staged.args.send = wide;
  const auto own = static_cast<std::size_t>(me_);
  const bool share = plain(args_.collective) == Collective::reduce_scatter;
  const std::size_t place = args_.shares != nullptr ? args_.shares->input.first[own] : own * args_.count;
  staged.args.recv = share ? wide + place : wide;
  staged.in_place = InPlace::aligned;
  return staged;
}

void Staging::finish() {
  const BufferBytes bytes = buffer_bytes(args_, me_, ranks_);
  if (bytes.output == 0) return;
  if (widens(args_)) {
    kernels::narrow(args_.dtype, args_.recv, static_cast<const float*>(staged_.args.recv),
                    bytes.output / size_of(args_.dtype),
                    args_.op == RedOp::avg ? static_cast<std::uint32_t>(ranks_) : 0U);
  } else if (staged_.in_place == InPlace::at_start) {
    std::memcpy(args_.recv, staged_.args.recv, bytes.output);
  }
}

std::byte* Staging::memory(std::size_t bytes) {
  if (bytes_ < bytes) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    bytes_ = bytes;
  }
  return memory_.get();
}

}  // namespace umbel::runtime
