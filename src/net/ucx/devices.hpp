// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace umbel::net {

/// A network device that UCX could use on this host.
struct NetDevice {
  std::string name;     ///< as UCX spells it: `eth0`, `mlx5_0:1`
  bool usable = false;  ///< up and running
  bool loopback = false;
  std::vector<std::string> addresses;  ///< of interfaces; empty for InfiniBand ports
};

/// All interfaces and InfiniBand ports of this process's network namespace, by name.
std::vector<NetDevice> network_devices();

/// Which devices to use, and why.
struct DeviceChoice {
  std::string ucx_value;  ///< for UCX_NET_DEVICES; empty leaves the choice to UCX
  std::string reason;     ///< one line for people
};

/// A process among those of its host (of the communicator that first needs the network).
struct HostPlace {
  int index = 0;
  int count = 1;
};

/// Applies a user's selection, a comma-separated list of exact names (`eth0,mlx5_0:1`; an InfiniBand device without a
/// port stands for all its ports) or, with a leading `^`, of the devices *not* to use (`^docker0,lo`). Names are never
/// prefixes. An empty selection leaves it to UCX (and its UCX_NET_DEVICES).
/// @throws InvalidArgument for a name that does not exist, or when nothing usable is left; lists what there is.
DeviceChoice choose_devices(std::string_view selection, const std::vector<NetDevice>& existing);

/// How many rails a host's processes have: as many as interfaces are `chosen` (a list as in ucx_value) by name, where
/// there are processes enough to use them; else 1, and UCX sees all devices.
int rails_of(std::string_view chosen, const std::vector<NetDevice>& existing, int processes);
/// The interface of the process: the chosen ones in turn. @pre rails_of() > 1
std::string device_of(std::string_view chosen, const std::vector<NetDevice>& existing, HostPlace place);

}  // namespace umbel::net
