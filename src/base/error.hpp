// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <stdexcept>
#include <string>

namespace umbel {

/// The root of what Umbel throws. The message says what was wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's argument or configuration is wrong.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// What was asked for cannot be served here (a forced algorithm refuses the case); the communicator stays usable.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// Ranks called with different collectives or arguments; names the odd rank and both values.
class MismatchError : public Error {
 public:
  using Error::Error;
};

/// A wait passed its deadline; names the operation, its sequence number and who is missing.
class TimeoutError : public Error {
 public:
  using Error::Error;
};

/// A rank died, was cut off, or failed the communicator.
class PeerFailure : public Error {
 public:
  using Error::Error;
};

/// The operating system refused (memory, descriptors, permissions).
class SystemError : public Error {
 public:
  using Error::Error;
};

/// UCX returned an error.
class UcxError : public Error {
 public:
  using Error::Error;
};

/// CUDA returned an error.
class CudaError : public Error {
 public:
  using Error::Error;
};

/// `what: strerror(error)` as a SystemError.
[[noreturn]] void throw_system_error(const std::string& what, int error);

}  // namespace umbel
