// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

namespace umbel::net {

/// UCX 1.13 ends the process by an assertion when a connection comes in and there is no file descriptor left for it, so
/// what a transport to `peers` peers may need is looked for before it is made.
/// @throws SystemError that says how many are needed, how many are left, and what to do.
void require_descriptors(int peers);

}  // namespace umbel::net
