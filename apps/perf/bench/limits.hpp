// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The highest busbw to expect of each collective. The library says it for all-reduce alone; the speeds behind that
// figure bound the others too. Of p ranks on N nodes, S the size of a call, as the perf apps count it:
//
//   one node      so many bytes some rank must copy at least, even when all ranks help: all_gather, reduce_scatter,
//                 all_to_all, broadcast, reduce S(p−1)/p, gather and scatter S(p−1)/p², sendrecv S
//   several       so many bytes cross the link of some node: all_gather, reduce_scatter S(N−1)/N, broadcast, reduce,
//                 sendrecv S, all_to_all S·m(p−m)/p for m ranks on a node, gather and scatter S(p−m)/p, m on the root's
#pragma once

#include <vector>

namespace umbel::bench {

struct Speeds {
  std::vector<int> node_sizes;  ///< ranks of each node
  double gbs = 0;               ///< of the link of a node, one way; with one node: of copies in a rank's cache
  int ranks() const;
  int nodes() const { return static_cast<int>(node_sizes.size()); }
};

/// What lies behind umbel_comm_info_t::busbw_limit_gbs.
Speeds speeds_of(double all_reduce_limit_gbs, std::vector<int> node_sizes);

// In GB/s. 0: not known; so it is with one rank.
double limit_of_all_reduce(const Speeds& speeds);
double limit_of_all_gather(const Speeds& speeds);  ///< and of reduce_scatter
double limit_of_broadcast(const Speeds& speeds);   ///< and of reduce
double limit_of_all_to_all(const Speeds& speeds);
double limit_of_gather(const Speeds& speeds);       ///< and of scatter
double limit_of_all_to_allv(const Speeds& speeds);  ///< several nodes: depends on who sits where, not known
double limit_of_sendrecv(const Speeds& speeds);

}  // namespace umbel::bench
