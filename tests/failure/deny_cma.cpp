// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// deny_cma COMMAND …: runs the command where process_vm_readv and process_vm_writev fail with EPERM, as in a container
// without the permission. A filter, since root may read any process otherwise.
#include <cerrno>
#include <cstdio>

#include <seccomp.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: deny_cma COMMAND …\n", stderr);
    return 2;
  }
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr || seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(process_vm_readv), 0) != 0 ||
      seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(process_vm_writev), 0) != 0 ||
      seccomp_load(filter) != 0) {
    std::fputs("deny_cma: the filter cannot be loaded\n", stderr);
    return 3;
  }
  seccomp_release(filter);
  ::execvp(argv[1], argv + 1);
  std::perror(argv[1]);
  return 127;
}
