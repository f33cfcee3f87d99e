// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

namespace umbel::net {

/// UCX 1.13 ends the process by an assertion when a connection comes in and there is no file descriptor left for it, so
/// what a worker (if one is to be made) and that many connections may need is looked for before.
/// @throws SystemError that says how many are needed, how many are left, and what to do.
void require_descriptors(bool worker, int connections);

}  // namespace umbel::net
