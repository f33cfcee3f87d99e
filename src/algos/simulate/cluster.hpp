// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the simulator runs programs on: cores, memory and wires in plain figures. How ranks are placed is the Shape's.
#pragma once

#include <string>
#include <vector>

#include "algos/algorithm.hpp"

namespace umbel::algos::simulate {

/// Seconds, and seconds per byte. A figure of 0 for something shared (cores, memory bus, uplinks) means that nobody
/// ever waits for it.
struct Cluster {
  // Inside a node
  double flag_s = 0.4e-6;          ///< from a signal to the node-mate that sees it
  double signal_s = 0.08e-6;       ///< of it, how long the signalling thread is busy
  double read_beta = 1 / 20e9;     ///< a node-mate's window: per byte copied from it, or added to a fold that reads it
  double direct_beta = 1 / 10e9;   ///< the same of its user buffer
  double copy_beta = 1 / 30e9;     ///< own memory to own memory
  double gamma = 1 / 15e9;         ///< per byte of result and operand after the first
  double cache_bytes = 512 << 10;  ///< windows larger than this are slower …
  double spill_per_doubling = 0.15;  ///< … by this part for each doubling …
  double spill_worst = 1.6;          ///< … up to this factor
  double cores_per_node = 0;         ///< shared by the ranks' threads; 0: a core for each
  double memory_beta = 0;            ///< per byte on the bus that a node's ranks share; 0: no limit

  // Between nodes
  double message_s = 10e-6;       ///< the smallest message, from the call to send to the end of the receive
  double message_cpu_s = 0.5e-6;  ///< of it, how long a thread is busy, at each end
  double wire_beta = 1 / 1e9;     ///< per byte on one rail, one direction
  int rails = 1;                  ///< network interfaces a node; a rank uses the one of its local index
  double eager_bytes = 0;         ///< longer messages start when the receive is posted; 0: none does

  /// What the ranks of a group of nodes share on their way out of it, each direction for itself.
  struct Uplink {
    double alpha = 0;  ///< on top of the latency inside the group
    double beta = 0;   ///< per byte; 0: no limit
  };
  std::vector<Uplink> uplinks{};  ///< of groups by their height: of nodes (racks), of those, …

  bool operator==(const Cluster&) const = default;
};

/// What a communicator has measured, as a cluster.
Cluster from_model(const Model& model, const Shape& shape);

/// What is wrong with the figures; empty when nothing is.
std::string complaint(const Cluster& cluster);

}  // namespace umbel::algos::simulate
