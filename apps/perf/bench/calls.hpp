// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The collectives as Umbel and as MPI make them.
#pragma once

#include "collective.hpp"

namespace umbel::bench::calls {

extern const Collective kAllReduce;
extern const Collective kBroadcast;
extern const Collective kReduce;
extern const Collective kAllGather;
extern const Collective kReduceScatter;
extern const Collective kAllToAll;
extern const Collective kGather;
extern const Collective kScatter;
extern const Collective kBarrier;

}  // namespace umbel::bench::calls
