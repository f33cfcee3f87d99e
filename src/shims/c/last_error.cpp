// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "last_error.hpp"

#include <exception>
#include <new>

#include "base/error.hpp"

namespace umbel::shim {
namespace {

thread_local std::string last_message;

}  // namespace

umbel_result_t fail(umbel_result_t result, const std::string& message) noexcept {
  try {
    last_message = message;
  } catch (...) {
    last_message.clear();
  }
  return result;
}

umbel_result_t fail_with_current_exception() noexcept {
  try {
    throw;
  } catch (const InvalidArgument& error) {
    return fail(UMBEL_ERROR_INVALID_ARGUMENT, error.what());
  } catch (const Unsupported& error) {
    return fail(UMBEL_ERROR_UNSUPPORTED, error.what());
  } catch (const MismatchError& error) {
    return fail(UMBEL_ERROR_MISMATCH, error.what());
  } catch (const TimeoutError& error) {
    return fail(UMBEL_ERROR_TIMEOUT, error.what());
  } catch (const PeerFailure& error) {
    return fail(UMBEL_ERROR_PEER_FAILURE, error.what());
  } catch (const SystemError& error) {
    return fail(UMBEL_ERROR_SYSTEM, error.what());
  } catch (const UcxError& error) {
    return fail(UMBEL_ERROR_SYSTEM, error.what());
  } catch (const CudaError& error) {
    return fail(UMBEL_ERROR_SYSTEM, error.what());
  } catch (const std::bad_alloc&) {
    return fail(UMBEL_ERROR_SYSTEM, "out of memory");
  } catch (const std::exception& error) {
    return fail(UMBEL_ERROR_INTERNAL, error.what());
  } catch (...) {
    return fail(UMBEL_ERROR_INTERNAL, "an exception of unknown type");
  }
}

const char* last_error() noexcept { return last_message.c_str(); }

}  // namespace umbel::shim
