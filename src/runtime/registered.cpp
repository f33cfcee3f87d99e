// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/registered.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "net/fork.hpp"

namespace umbel::runtime {
namespace {

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

}  // namespace

std::uint32_t RegisteredWindows::tell(const RegisteredWindow& window) noexcept {
  const std::uint32_t told = count.load(std::memory_order_relaxed);
  for (std::uint32_t n = 0; n < told; ++n)
    if (windows[n].begin == window.begin) return n + 1;
  if (told == kMost) return 0;
  windows[told] = window;
  count.store(told + 1, std::memory_order_release);
  return told + 1;
}

RegisteredMemory& RegisteredMemory::of_process() {
  static auto* memory = new RegisteredMemory;  // never destroyed: static objects may free what they hold of it
  return *memory;
}

void* RegisteredMemory::allocate(std::size_t bytes) {
  net::refuse_if_forked("the allocation of registered memory");
  if (bytes == 0) return nullptr;
  constexpr std::size_t kMost = std::size_t{1} << 47U;  // what a process can address
  if (bytes > kMost)
    throw SystemError(fmt::format("{} bytes of registered memory: more than a process can have", bytes));
  SharedMemory::Block block;
  RegisteredWindow window;
  {
    const std::scoped_lock lock(memory_mutex_);
    block = memory_.allocate(bytes);
    window = {.begin = address_of(memory_.window(block).data()), .window = memory_.descriptor(block)};
  }
  try {
    const std::scoped_lock lock(mutex_);
    if (std::ranges::find(windows_, window.begin, &RegisteredWindow::begin) == windows_.end())
      windows_.push_back(window);
    blocks_.emplace(block.data, block);
  } catch (...) {
    const std::scoped_lock lock(memory_mutex_);
    memory_.release(block);
    throw;
  }
  return block.data;
}

void RegisteredMemory::release(void* memory) {
  if (memory == nullptr) return;
  net::refuse_if_forked("the release of registered memory");
  SharedMemory::Block block;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(memory);
    if (found == blocks_.end())
      throw InvalidArgument(fmt::format("{} is not the start of registered memory, or was freed already", memory));
    block = found->second;
    blocks_.erase(found);
  }
  const std::scoped_lock lock(memory_mutex_);
  memory_.release(block);
}

std::optional<RegisteredWindow> RegisteredMemory::find(const void* address, std::size_t bytes) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(
      windows_, [&](const RegisteredWindow& window) { return window.holds(address_of(address), bytes); });
  return found == windows_.end() ? std::nullopt : std::optional(*found);
}

void RegisteredBlock::Release::operator()(void* memory) const noexcept {
  if (!net::forked()) RegisteredMemory::of_process().release(memory);
}

std::byte* MappedMemory::find(Rank owner, const RegisteredWindows& told, std::uint64_t address, std::size_t bytes) {
  const std::uint32_t count = told.count.load(std::memory_order_acquire);
  for (std::uint32_t n = 0; n < count; ++n)
    if (told.windows[n].holds(address, bytes)) return in_window(owner, told, n + 1, address);
  return nullptr;
}

void MappedMemory::map(Rank owner, const RegisteredWindows& told, std::uint32_t up_to) {
  const auto at = static_cast<std::size_t>(owner);
  if (known_.size() <= at) known_.resize(at + 1);
  while (known_[at].size() < up_to) {
    const RegisteredWindow& next = told.windows[known_[at].size()];
    Known known{.begin = next.begin};
    try {
      known.window = net::attach(next.window);
    } catch (const SystemError& error) {  // no descriptors, no addresses: there is another way
      log_info(Subsystem::window, "registered memory of rank {} is not mapped: {}", owner, error.what());
    }
    log_debug(Subsystem::window, "registered memory of rank {}, {} bytes: {}", owner, next.bytes(),
              known.window ? "mapped" : "out of reach, read as other memory is");
    known_[at].push_back(std::move(known));
  }
}

}  // namespace umbel::runtime
