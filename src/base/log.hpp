// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The log: one line a message, to stderr, with time, host, rank, level and subsystem in front. What is switched off
// costs one relaxed load. Errors that are thrown are not logged as well: who catches them decides.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace umbel {

/// How much the log says; each level includes those before it.
enum class LogLevel : std::uint8_t { none, error, warn, info, debug, trace };

/// Who is speaking. The names are those of UMBEL_DEBUG_SUBSYS.
enum class Subsystem : std::uint8_t { init, net, window, topo, plan, exec, wait, health };
inline constexpr int kSubsystemCount = 8;

std::string_view name_of(LogLevel level) noexcept;
std::string_view name_of(Subsystem subsystem) noexcept;

/// A set of subsystems.
class SubsystemSet {
 public:
  static SubsystemSet all() noexcept { return SubsystemSet((1U << kSubsystemCount) - 1); }
  static SubsystemSet none() noexcept { return SubsystemSet(0); }
  /// A comma list of names or `all`; `^name` takes one out, and a list that starts with one starts from all of them.
  /// @throws InvalidArgument for a name that is no subsystem.
  static SubsystemSet parse(std::string_view list);

  bool contains(Subsystem subsystem) const noexcept { return (bits_ >> static_cast<unsigned>(subsystem) & 1U) != 0; }
  friend bool operator==(SubsystemSet, SubsystemSet) = default;

 private:
  explicit SubsystemSet(std::uint32_t bits) noexcept : bits_(bits) {}

  std::uint32_t bits_;
};

/// Sets what is logged, for the whole process: errors and warnings of everybody up to `level`, more than those only of
/// `subsystems`. Any thread, at any time.
void configure_log(LogLevel level, SubsystemSet subsystems) noexcept;

/// The rank that the lines name, for the whole process; negative: none yet.
void set_log_rank(int rank) noexcept;

namespace detail {
extern std::array<std::atomic<LogLevel>, kSubsystemCount> log_levels;
void write_log_line(Subsystem subsystem, LogLevel level, std::string_view message) noexcept;
}  // namespace detail

/// Whether a message would be written; ask before computing something costly for it.
inline bool log_enabled(Subsystem subsystem, LogLevel level) noexcept {
  return level <= detail::log_levels[static_cast<std::size_t>(subsystem)].load(std::memory_order_relaxed);
}

/// Writes one line, if it is enabled; formats by fmt.
template <class... Args>
void log(Subsystem subsystem, LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(subsystem, level))
    detail::write_log_line(subsystem, level, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_error(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  log(subsystem, LogLevel::error, format, std::forward<Args>(args)...);
}

template <class... Args>
void log_warn(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  log(subsystem, LogLevel::warn, format, std::forward<Args>(args)...);
}

template <class... Args>
void log_info(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  log(subsystem, LogLevel::info, format, std::forward<Args>(args)...);
}

template <class... Args>
void log_debug(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  log(subsystem, LogLevel::debug, format, std::forward<Args>(args)...);
}

template <class... Args>
void log_trace(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  log(subsystem, LogLevel::trace, format, std::forward<Args>(args)...);
}

}  // namespace umbel
