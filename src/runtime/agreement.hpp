// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What all ranks settle while a communicator is made, over the bootstrap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "net/bootstrap.hpp"

namespace umbel::runtime {

enum class ErrorClass : std::uint32_t {
  none,
  invalid_argument,
  unsupported,
  mismatch,
  timeout,
  peer_failure,
  system,
  ucx,
  other
};

ErrorClass class_of(const Error& error) noexcept;
/// Throws `text` as the error class of that name. @pre error_class is not `none`
[[noreturn]] void throw_as(ErrorClass error_class, const std::string& text);

/// Collective. Runs `work`, which is local and may throw, then tells every rank whether all succeeded: when one did
/// not, all throw its class and message, the failing rank its own.
void agree(const net::Bootstrap& bootstrap, std::string_view step, const std::function<void()>& work);

/// What the first exchange settles.
struct Handshake {
  std::uint64_t nonce = 0;       ///< of this communicator, by rank 0
  std::size_t same_process = 0;  ///< how many lower ranks are threads of this process
  std::size_t same_host = 1;     ///< how many ranks draw on the memory that this one draws on, itself included
};

/// Collective. Compares version, size, claimed ranks and `configuration` (lines of NAME=VALUE) between all ranks.
/// @throws InvalidArgument naming what differs and where.
Handshake shake_hands(const net::Bootstrap& bootstrap, const std::string& version, const std::string& configuration);

}  // namespace umbel::runtime
