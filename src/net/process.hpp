// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <cstdint>
#include <optional>

namespace umbel::net {

/// A process of this PID namespace, unmistakably: its number may be given out again, not with the same start time.
struct ProcessId {
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks since boot; 0: not known

  bool operator==(const ProcessId&) const = default;
};

/// This process. Read once.
const ProcessId& this_process();

/// What the system says of it: 'R' or 'S' running or waiting, 'T' stopped, 'Z' ended, 'X' gone; '?' unknown.
char process_state(const ProcessId& process);
inline bool has_ended(char state) noexcept { return state == 'Z' || state == 'X'; }

}  // namespace umbel::net
