// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/facts.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net/ucx/devices.hpp"
#include "net/ucx/transport.hpp"
#include "runtime/topology.hpp"

namespace umbel::runtime {
namespace {

std::string cache_text(std::size_t bytes, int sharers) {
  return bytes == 0 ? "unknown"
                    : fmt::format("{}, shared by {} core{}", bytes_to_text(bytes), sharers, sharers == 1 ? "" : "s");
}

/// For people: three digits are enough. bytes_to_text is exact, and long where the number is not round.
std::string rounded(std::uint64_t bytes) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB);
}

void add_memory_facts(std::vector<Fact>& facts) {
  struct statvfs shm {};
  if (::statvfs("/dev/shm", &shm) == 0)
    facts.push_back(
        {"memory", "/dev/shm", fmt::format("{} free (windows do not use it)", rounded(shm.f_bavail * shm.f_frsize))});
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0)
    facts.push_back({"memory", "open files", fmt::format("{}", files.rlim_cur)});
}

void add_device_facts(std::vector<Fact>& facts) {
  for (const net::NetDevice& device : net::network_devices())
    facts.push_back({"network", device.name,
                     fmt::format("{}{} {}", device.usable ? "up" : "down", device.loopback ? ", loopback" : "",
                                 fmt::join(device.addresses, " "))});
}

}  // namespace

std::vector<Fact> host_facts() {
  const HostTopology& host = host_topology();
  std::vector<Fact> facts{
      {"node", "host", net::to_text(net::host_hint())},
      {"node", "processor", host.cpu_model.empty() ? "unknown" : host.cpu_model},
      {"node", "packages", fmt::format("{}", host.packages)},
      {"node", "NUMA nodes",
       host.bound_numa >= 0 ? fmt::format("{} (this process: {})", host.numa_nodes, host.bound_numa)
                            : fmt::format("{}", host.numa_nodes)},
      {"node", "cores",
       fmt::format("{}, of which this process may use {}; {} hardware threads", host.cores, host.allowed_cores.count(),
                   host.threads)},
      {"node", "L2 cache", cache_text(host.l2_bytes, host.l2_sharers)},
      {"node", "L3 cache", cache_text(host.l3_bytes, host.l3_sharers)},
      {"node", "GPUs", "none: this build works on host memory"},
      {"memory", "installed", rounded(host.memory_bytes)},
  };
  add_memory_facts(facts);
  facts.push_back({"network", "UCX", net::ucx_version()});
  add_device_facts(facts);
  return facts;
}

std::vector<Fact> communicator_facts(const Founded& founded) {
  const Members& members = founded.members;
  const algos::Model& model = founded.measured.model;
  std::vector<Fact> facts;
  auto add = [&](const char* name, std::string value) { facts.push_back({"communicator", name, std::move(value)}); };
  for (int node = 0; node < members.shape.nodes(); ++node) {
    const auto ranks = members.shape.node_ranks(node);
    add("node",
        fmt::format("{}: host {}, ranks {}", node, members.at(ranks.front()).host.host_name, fmt::join(ranks, " ")));
  }
  add("placement", founded.config.nodes.empty() ? "found by mapping memory" : "UMBEL_NODES=" + founded.config.nodes);
  add("levels", fmt::format("{}", members.shape.levels()));
  add("ranks per core", fmt::format("{:g}{}", founded.ranks_per_core, founded.crowded ? " (waits yield at once)" : ""));
  add("transport", members.transport ? members.transport->device_text() : "shared memory alone");
  add("CMA", founded.direct_text);
  add("window", fmt::format("{} a rank: {} banks of {} slots and {} semaphores", bytes_to_text(founded.arena.bytes()),
                            kBanks, bytes_to_text(founded.layout.slot_bytes), founded.layout.semaphores));
  add("tuning", founded.tuning_text);
  add("flag to a node-mate", fmt::format("{:.2f} us", model.local_alpha * 1e6));
  add("copy", fmt::format("{:.1f} GB/s own memory, {:.1f} GB/s from a node-mate's window", 1e-9 / model.copy_beta,
                          1e-9 / model.local_beta));
  if (founded.direct)
    add("direct read", fmt::format("{:.1f} GB/s from a node-mate's {} memory", 1e-9 / model.direct_beta,
                                   founded.registered ? "registered" : "user"));
  if (founded.config.registered)
    add("registered buffers",
        founded.registered ? "expected: read in place" : "expected, but not counted on without CMA");
  add("fold", fmt::format("{:.1f} GB/s of fp32 sums", 1e-9 / model.gamma));
  if (members.transport)
    add("network", fmt::format("{:.1f} us a small message, of which {:.1f} us are work, {:.3f} GB/s{}",
                               model.net_alpha * 1e6, model.net_post * 1e6, 1e-9 / model.net_beta,
                               model.rails > 1 ? fmt::format(" on each of {} rails", model.rails) : ""));
  return facts;
}

}  // namespace umbel::runtime
