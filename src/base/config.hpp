// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The configuration variables. One table (Config::variables) holds the name, type, default and meaning of each: the
// loader, `umbel_info` and docs/configuration.md all come from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace umbel {

/// Whether a peer's user buffer is read by process_vm_readv.
enum class CmaMode : std::uint8_t { automatic, off, on };

/// What a rank does while it waits.
enum class WaitMode : std::uint8_t { automatic, spin, yield, sleep };

/// Which devices to use: a comma list of exact names, or with a leading ^ all but those. Empty: all.
struct DeviceFilter {
  bool exclude = false;
  std::vector<std::string> names;

  /// @throws InvalidArgument for an empty name or a ^ that is not the first character.
  static DeviceFilter parse(std::string_view list);
  bool admits(std::string_view device) const;
  std::string to_text() const;
  friend bool operator==(const DeviceFilter&, const DeviceFilter&) = default;
};

/// The value of every variable. The members' initial values are the defaults.
struct Config {
  /// UMBEL_ALGORITHM: the algorithm of every call, or `auto`: the cost model chooses for each.
  std::string algorithm = "auto";
  /// UMBEL_NODES: how the ranks are placed on (virtual) nodes, as written; empty: as found.
  std::string nodes;
  /// UMBEL_TIMEOUT_S: the deadline of every wait.
  std::chrono::milliseconds timeout{300'000};
  /// UMBEL_DEBUG: how much is logged.
  LogLevel debug = LogLevel::warn;
  /// UMBEL_DEBUG_SUBSYS: who may log more than warnings, as written; SubsystemSet::parse accepts it.
  std::string debug_subsystems = "all";
  /// UMBEL_NET_DEVICES: the network devices to use.
  DeviceFilter net_devices;
  /// UMBEL_CMA: whether peers' buffers are read by process_vm_readv.
  CmaMode cma = CmaMode::automatic;
  /// UMBEL_REGISTERED: callers' buffers are registered memory (umbel_mem_alloc).
  bool registered = false;
  /// UMBEL_TUNING: `auto`, `off`, or the tuning file.
  std::string tuning = "auto";
  /// UMBEL_WINDOW_BYTES: shared memory of each rank for data on the way.
  std::uint64_t window_bytes = 16U << 20U;
  /// UMBEL_CHUNK_BYTES: what moves at a time; 0: chosen.
  std::uint64_t chunk_bytes = 0;
  /// UMBEL_PIECE_BYTES: what a loop over pieces handles at a time; 0: chosen.
  std::uint64_t piece_bytes = 0;
  /// UMBEL_WAIT: spin, yield or sleep while waiting.
  WaitMode wait = WaitMode::automatic;
  /// UMBEL_PROGRESS_THREAD: a thread goes on with started operations.
  bool progress_thread = false;
  /// UMBEL_CHANNELS: parallel channels (rings, trees) of an algorithm; 0: chosen.
  int channels = 0;
  /// UMBEL_REPRODUCIBLE: one canonical order of folds for any placement of the ranks.
  bool reproducible = false;

  /// One row of the table.
  struct Variable {
    std::string_view name;
    std::string_view type;  ///< what a value looks like
    std::string_view meaning;
    bool agreed;                             ///< must be the same on all ranks
    void (*set)(Config&, std::string_view);  ///< throws InvalidArgument, its message without the variable's name
    std::string (*get)(const Config&);       ///< the value as it would be written
  };
  static std::span<const Variable> variables() noexcept;

  /// Reads the variables of `environment`, entries `NAME=value` with a null at the end; an empty value is as good as
  /// none.
  /// @throws InvalidArgument for a value that does not fit; names the variable, the value and what is expected.
  static Config from_environment(const char* const* environment);
  /// The same, of this process.
  static Config from_environment();

  /// All variables, (name, value), in the table's order.
  std::vector<std::pair<std::string_view, std::string>> values() const;
  /// The variables that must be the same on all ranks, a line `NAME=value` each; for explain_difference.
  std::string agreed_text() const;
  /// A hash of agreed_text(): equal on all ranks, or they are configured differently.
  std::uint64_t agreed_hash() const;
};

std::string_view name_of(CmaMode mode) noexcept;
std::string_view name_of(WaitMode mode) noexcept;

/// A message for each UMBEL_* variable of the environment that no Umbel knows, with the nearest name that it does.
std::vector<std::string> unknown_variables(const char* const* environment);
std::vector<std::string> unknown_variables();

/// Which variables differ between ranks, with the values and who has them; empty when none do.
/// @param agreed_text_of_rank Config::agreed_text() of each rank.
std::string explain_difference(std::span<const std::string> agreed_text_of_rank);

/// Bytes, with K, M or G (times 1024, 1024², 1024³) in either case. @throws InvalidArgument.
std::uint64_t parse_bytes(std::string_view text);
/// The shortest text that parse_bytes reads as `bytes`: 16M, 1000.
std::string bytes_to_text(std::uint64_t bytes);

/// docs/configuration.md, whole.
std::string configuration_markdown();

}  // namespace umbel
