// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include "base/error.hpp"

namespace umbel {
namespace {

constexpr std::array<std::string_view, 6> kLevelNames{"none", "error", "warn", "info", "debug", "trace"};
constexpr std::array<std::string_view, kSubsystemCount> kSubsystemNames{"init", "net",  "window", "topo",
                                                                        "plan", "exec", "wait",   "health"};
std::atomic<int> log_rank{-1};

spdlog::level::level_enum spdlog_level(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::none:
      return spdlog::level::off;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::trace:
      return spdlog::level::trace;
  }
  return spdlog::level::off;
}

/// Never destroyed: other static objects may still speak while the process ends.
spdlog::logger& logger() {
  static spdlog::logger& instance = [&]() -> spdlog::logger& {
    auto* made = new spdlog::logger("umbel", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%H:%M:%S.%f umbel %v");
    made->set_level(spdlog::level::trace);  // what is off is decided before
    return *made;
  }();
  return instance;
}

std::string_view host_name() noexcept {
  static const std::array<char, 256> name = [] {
    std::array<char, 256> buffer{};
    if (::gethostname(buffer.data(), buffer.size() - 1) != 0) buffer = {'?'};
    return buffer;
  }();
  return name.data();
}

constexpr std::uint32_t bit(Subsystem subsystem) noexcept { return 1U << static_cast<unsigned>(subsystem); }

/// The bits that one entry of a subsystem list names.
std::uint32_t bits_of(std::string_view name) {
  if (name == "all") return (1U << kSubsystemCount) - 1;
  for (int s = 0; s < kSubsystemCount; ++s)
    if (name == kSubsystemNames[static_cast<std::size_t>(s)]) return bit(static_cast<Subsystem>(s));
  throw InvalidArgument(
      fmt::format("'{}' is no subsystem; there are {} and all", name, fmt::join(kSubsystemNames, ", ")));
}

}  // namespace

namespace detail {

// warnings are on before anything is configured
std::array<std::atomic<LogLevel>, kSubsystemCount> log_levels{LogLevel::warn, LogLevel::warn, LogLevel::warn,
                                                              LogLevel::warn, LogLevel::warn, LogLevel::warn,
                                                              LogLevel::warn, LogLevel::warn};

void write_log_line(Subsystem subsystem, LogLevel level, std::string_view message) noexcept {
  try {
    const int rank = log_rank.load(std::memory_order_relaxed);
    const std::string who =
        rank >= 0 ? fmt::format("{} rank {}", host_name(), rank) : fmt::format("{} pid {}", host_name(), ::getpid());
    logger().log(spdlog_level(level), "{} {} {}: {}", who, name_of(level), name_of(subsystem), message);
  } catch (...) {
    // a log that cannot be written must not change what the program does
  }
}

}  // namespace detail

std::string_view name_of(LogLevel level) noexcept { return kLevelNames[static_cast<std::size_t>(level)]; }
std::string_view name_of(Subsystem subsystem) noexcept { return kSubsystemNames[static_cast<std::size_t>(subsystem)]; }

SubsystemSet SubsystemSet::parse(std::string_view list) {
  std::uint32_t bits = list.starts_with('^') ? all().bits_ : 0;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string_view entry = list.substr(begin, comma - begin);
    if (entry.starts_with('^')) {
      bits &= ~bits_of(entry.substr(1));
    } else {
      bits |= bits_of(entry);
    }
    begin = comma + 1;
  }
  return SubsystemSet(bits);
}

void configure_log(LogLevel level, SubsystemSet subsystems) noexcept {
  for (int s = 0; s < kSubsystemCount; ++s) {
    const auto subsystem = static_cast<Subsystem>(s);
    const LogLevel cap = subsystems.contains(subsystem) ? LogLevel::trace : LogLevel::warn;
    detail::log_levels[static_cast<std::size_t>(s)].store(std::min(level, cap), std::memory_order_relaxed);
  }
}

void set_log_rank(int rank) noexcept { log_rank.store(rank, std::memory_order_relaxed); }

}  // namespace umbel
