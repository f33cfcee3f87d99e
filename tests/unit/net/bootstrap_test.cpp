// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/bootstrap.hpp"

#include <gtest/gtest.h>

#include "net/host.hpp"
#include "thread_ranks.hpp"

namespace umbel::net {
namespace {

TEST(Bootstrap, GathersPlainDataInRankOrder) {
  test::run_ranks(3, [](const Bootstrap& b) {
    const std::vector<int> all = all_gather(b, b.rank * 10);
    EXPECT_EQ(all, (std::vector<int>{0, 10, 20}));
  });
}

TEST(Bootstrap, GathersStringsOfDifferentLength) {
  test::run_ranks(4, [](const Bootstrap& b) {
    std::string mine(static_cast<std::size_t>(b.rank) * 5, static_cast<char>('a' + b.rank));
    if (b.rank == 2) mine[3] = '\0';
    const std::vector<std::string> all = all_gather_bytes(b, mine);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0], "");
    EXPECT_EQ(all[1], "bbbbb");
    EXPECT_EQ(all[2], std::string("ccc\0cccccc", 10));
    EXPECT_EQ(all[3], std::string(15, 'd'));
  });
}

TEST(Bootstrap, GathersOnlyEmptyStrings) {
  test::run_ranks(2, [](const Bootstrap& b) {
    EXPECT_EQ(all_gather_bytes(b, ""), (std::vector<std::string>{"", ""}));
  });
}

TEST(Host, SaysNoOnlyWhenCertain) {
  HostHint a = host_hint();
  HostHint b = a;
  EXPECT_TRUE(a.may_share_memory(b));
  b.mount_ns ^= 1U;
  EXPECT_TRUE(a.may_share_memory(b)) << "another mount namespace is no obstacle to a memfd";
  b.pid_ns ^= 1U;
  EXPECT_EQ(a.may_share_memory(b), a.pid_ns == 0);
  b = a;
  b.boot_id = 0;
  EXPECT_TRUE(a.may_share_memory(b)) << "unknown is not different";
  b.boot_id = a.boot_id + 1;
  EXPECT_EQ(a.may_share_memory(b), a.boot_id == 0);
}

TEST(Host, RandomBitsDiffer) { EXPECT_NE(random_bits(), random_bits()); }

}  // namespace
}  // namespace umbel::net
