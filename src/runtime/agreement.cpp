// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/agreement.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "algos/algorithm.hpp"
#include "base/config.hpp"
#include "net/host.hpp"
#include "runtime/control.hpp"

namespace umbel::runtime {
namespace {

struct Status {
  ErrorClass error_class = ErrorClass::none;
  char text[508] = {};
};

struct Hello {
  std::uint64_t magic = 0x554d42454c303032;  // "UMBEL002": version of this very exchange
  std::uint64_t nonce = 0;
  std::uint64_t process = 0;  // a random number of each process
  std::int32_t rank = 0;
  std::int32_t size = 0;
  net::HostHint host;
};

/// What must be equal for two libraries to work together: the version, the layout of what they share, the algorithms.
std::string build_text(const std::string& version) {
  std::string text = fmt::format("{} (header {}, message {}, summary {} bytes, {} banks; algorithms", version,
                                 sizeof(Header), sizeof(net::MessageHeader), sizeof(net::CallSummary), kBanks);
  for (const algos::Algorithm& algorithm : algos::catalog()) text += fmt::format(" {}", algorithm.name);
  return text + ")";
}

std::uint64_t process_number() {
  static const std::uint64_t number = net::random_bits();
  return number;
}

}  // namespace

ErrorClass class_of(const Error& error) noexcept {
  if (dynamic_cast<const InvalidArgument*>(&error) != nullptr) return ErrorClass::invalid_argument;
  if (dynamic_cast<const Unsupported*>(&error) != nullptr) return ErrorClass::unsupported;
  if (dynamic_cast<const MismatchError*>(&error) != nullptr) return ErrorClass::mismatch;
  if (dynamic_cast<const TimeoutError*>(&error) != nullptr) return ErrorClass::timeout;
  if (dynamic_cast<const PeerFailure*>(&error) != nullptr) return ErrorClass::peer_failure;
  if (dynamic_cast<const SystemError*>(&error) != nullptr) return ErrorClass::system;
  if (dynamic_cast<const UcxError*>(&error) != nullptr) return ErrorClass::ucx;
  return ErrorClass::other;
}

void throw_as(ErrorClass error_class, const std::string& text) {
  switch (error_class) {
    case ErrorClass::invalid_argument:
      throw InvalidArgument(text);
    case ErrorClass::unsupported:
      throw Unsupported(text);
    case ErrorClass::mismatch:
      throw MismatchError(text);
    case ErrorClass::timeout:
      throw TimeoutError(text);
    case ErrorClass::peer_failure:
      throw PeerFailure(text);
    case ErrorClass::system:
      throw SystemError(text);
    case ErrorClass::ucx:
      throw UcxError(text);
    case ErrorClass::none:
    case ErrorClass::other:
      break;
  }
  throw Error(text);
}

void agree(const net::Bootstrap& bootstrap, std::string_view step, const std::function<void()>& work) {
  Status mine;
  std::exception_ptr own;
  auto keep = [&](ErrorClass error_class, const char* text) {
    own = std::current_exception();
    mine.error_class = error_class;
    std::strncpy(mine.text, text, sizeof(mine.text) - 1);
  };
  try {
    work();
  } catch (const Error& error) {
    keep(class_of(error), error.what());
  } catch (const std::exception& error) {
    keep(ErrorClass::other, error.what());
  }
  const std::vector<Status> all = net::all_gather(bootstrap, mine);
  if (own) std::rethrow_exception(own);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Status& status = all[rank];
    if (status.error_class != ErrorClass::none)
      throw_as(status.error_class, fmt::format("rank {} could not {}: {}", rank, step, status.text));
  }
}

Handshake shake_hands(const net::Bootstrap& bootstrap, const std::string& version, const std::string& configuration) {
  Hello mine;
  mine.nonce = net::random_bits();
  mine.process = process_number();
  mine.rank = bootstrap.rank;
  mine.size = bootstrap.size;
  mine.host = net::host_hint();
  const std::vector<Hello> all = net::all_gather(bootstrap, mine);
  for (std::size_t at = 0; at < all.size(); ++at) {
    const Hello& hello = all[at];
    if (hello.magic != mine.magic)
      throw InvalidArgument(fmt::format("process {} of the bootstrap does not speak this version of Umbel", at));
    if (hello.size != bootstrap.size)
      throw InvalidArgument(fmt::format("rank {} on {} says that there are {} ranks, rank {} says {}", at,
                                        hello.host.host_name, hello.size, bootstrap.rank, bootstrap.size));
  }
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b)
      if (all[a].rank == all[b].rank)
        throw InvalidArgument(fmt::format("rank {} is claimed twice: by process {} on {} and process {} on {}",
                                          all[a].rank, a, all[a].host.host_name, b, all[b].host.host_name));
  for (std::size_t at = 0; at < all.size(); ++at)
    if (all[at].rank != static_cast<std::int32_t>(at))
      throw InvalidArgument(fmt::format("process {} on {} claims rank {}: the all-gather is not in rank order", at,
                                        all[at].host.host_name, all[at].rank));
  const std::string build = build_text(version);
  const std::vector<std::string> builds = net::all_gather_bytes(bootstrap, build);
  for (std::size_t at = 0; at < builds.size(); ++at)
    if (builds[at] != builds.front())
      throw InvalidArgument(fmt::format("the ranks run different builds of Umbel: rank 0 on {} {}; rank {} on {} {}",
                                        all.front().host.host_name, builds.front(), at, all[at].host.host_name,
                                        builds[at]));
  const std::vector<std::string> texts = net::all_gather_bytes(bootstrap, configuration);
  const std::string difference = explain_difference(texts);
  if (!difference.empty()) throw InvalidArgument("the ranks are configured differently: " + difference);
  const auto lower = std::span(all).first(static_cast<std::size_t>(bootstrap.rank));
  const auto same_process = std::ranges::count(lower, mine.process, &Hello::process);
  // Containers on one host have PID namespaces and memory limits of their own.
  const auto same_host = std::ranges::count_if(all, [&mine](const Hello& hello) {
    return hello.host.boot_id == mine.host.boot_id && hello.host.pid_ns == mine.host.pid_ns;
  });
  return {.nonce = all.front().nonce,
          .same_process = static_cast<std::size_t>(same_process),
          .same_host = static_cast<std::size_t>(same_host)};
}

}  // namespace umbel::runtime
