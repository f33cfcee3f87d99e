// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

namespace umbel::net {

/// True in a process that was forked from one that had already made a window or a transport. Such a child shares
/// sockets, registered memory and descriptors with its parent and lacks the windows (MADV_DONTFORK), so everything in
/// this layer refuses to work there; the parent is not disturbed. A child that execs is a new process and is fine.
bool forked() noexcept;

/// @throws InvalidArgument that says what to do instead, when forked().
void refuse_if_forked(const char* what);

/// Called by whatever makes the first resource that a fork would break; later calls do nothing.
void watch_for_fork();

}  // namespace umbel::net
