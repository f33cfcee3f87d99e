// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace umbel::net {

/// Objects at fixed addresses that are reused, never freed one by one: no allocation once there are enough.
/// An Object has members `std::uint32_t index` (set here, for good) and `Object* next`.
template <class Object>
class Pool {
 public:
  Object* take() {
    if (free_ == nullptr) {
      Object& fresh = objects_.emplace_back();
      fresh.index = static_cast<std::uint32_t>(objects_.size() - 1);
      free_ = &fresh;
    }
    Object* object = free_;
    free_ = object->next;
    object->next = nullptr;
    ++in_use_;
    return object;
  }

  void give_back(Object* object) noexcept {
    object->next = free_;
    free_ = object;
    --in_use_;
  }

  std::size_t in_use() const noexcept { return in_use_; }

  /// The object of that number, in use or not; null when there never was one.
  Object* at(std::uint64_t index) noexcept { return index < objects_.size() ? &objects_[index] : nullptr; }

 private:
  std::deque<Object> objects_;
  Object* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace umbel::net
