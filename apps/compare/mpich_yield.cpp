// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// To be loaded before MPICH by LD_PRELOAD. MPICH spins while it waits, and its builds have no setting to yield; with
// more ranks than cores it would lose every comparison by thousands of times. Here MPICH, and nobody else, gives up the
// core whenever UCX had nothing for it.
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <ucp/api/ucp.h>

#include <cstdint>
#include <cstring>

namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Debian calls it libmpich, others libmpi.
bool is_mpich(const char* path) {
  return std::strstr(path, "/libmpich.so") != nullptr || std::strstr(path, "/libmpi.so") != nullptr;
}

int find_mpich(dl_phdr_info* info, std::size_t, void* found) {
  if (!is_mpich(info->dlpi_name)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    *static_cast<Range*>(found) = {begin, begin + segment.p_memsz};
  }
  return 1;
}

Range mpich_code() {
  Range range;
  dl_iterate_phdr(find_mpich, &range);
  return range;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] unsigned ucp_worker_progress(ucp_worker_h worker) {
  using Progress = unsigned (*)(ucp_worker_h);
  static const auto progress = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  static const Range mpich = mpich_code();
  const unsigned events = progress(worker);
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (events == 0 && caller >= mpich.begin && caller < mpich.end) sched_yield();
  return events;
}
