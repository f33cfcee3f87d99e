// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include "net/bootstrap.hpp"

namespace umbel::tune {

/// All ranks of the job, by the callbacks of umbel_mpi.h, with their deadline. @pre MPI is initialized
/// @throws TimeoutError, SystemError from its callbacks
net::Bootstrap mpi_bootstrap();

}  // namespace umbel::tune
