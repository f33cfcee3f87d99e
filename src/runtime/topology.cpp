// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/topology.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace umbel::runtime {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_t set) const noexcept { hwloc_bitmap_free(set); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, Destroy>;

Topology load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

void cache_of(hwloc_topology_t topology, hwloc_obj_type_t type, std::size_t& bytes, int& sharers) {
  const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
  if (cache == nullptr) return;
  bytes = cache->attr->cache.size;
  sharers = hwloc_get_nbobjs_inside_cpuset_by_type(topology, cache->cpuset, HWLOC_OBJ_CORE);
}

/// Asked of the system: in virtual machines the NUMA nodes do not always have as much as there is.
std::uint64_t installed_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

HostTopology without_hwloc() {
  HostTopology host;
  host.memory_bytes = installed_memory();
  host.threads = host.cores = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  host.packages = host.numa_nodes = 1;
  for (int core = 0; core < host.cores; ++core) host.allowed_cores.set(static_cast<std::size_t>(core) % kMaxCores);
  return host;
}

HostTopology look() {
  const Topology owner = load();
  if (!owner) return without_hwloc();
  const hwloc_topology_t topology = owner.get();
  HostTopology host;
  host.memory_bytes = installed_memory();
  auto number = [&](hwloc_obj_type_t type) { return std::max(0, hwloc_get_nbobjs_by_type(topology, type)); };
  host.packages = number(HWLOC_OBJ_PACKAGE);
  host.numa_nodes = number(HWLOC_OBJ_NUMANODE);
  host.cores = number(HWLOC_OBJ_CORE);
  host.threads = number(HWLOC_OBJ_PU);
  if (host.cores == 0) return without_hwloc();
  const Bitmap allowed(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, allowed.get(), HWLOC_CPUBIND_PROCESS) != 0)
    hwloc_bitmap_copy(allowed.get(), hwloc_topology_get_allowed_cpuset(topology));
  for (int core = 0; core < host.cores; ++core) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(core));
    if (hwloc_bitmap_intersects(object->cpuset, allowed.get()) != 0)
      host.allowed_cores.set(static_cast<std::size_t>(core) % kMaxCores);
  }
  for (int node = 0; node < host.numa_nodes; ++node) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(node));
    if (hwloc_bitmap_isincluded(allowed.get(), object->cpuset) != 0) host.bound_numa = node;
  }
  cache_of(topology, HWLOC_OBJ_L2CACHE, host.l2_bytes, host.l2_sharers);
  cache_of(topology, HWLOC_OBJ_L3CACHE, host.l3_bytes, host.l3_sharers);
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* model = package != nullptr ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  if (model != nullptr) host.cpu_model = model;
  return host;
}

}  // namespace

const HostTopology& host_topology() {
  static const HostTopology host = look();
  return host;
}

}  // namespace umbel::runtime
