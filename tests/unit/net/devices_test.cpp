// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace umbel::net {
namespace {

using ::testing::HasSubstr;

NetDevice interface_named(const std::string& name, bool usable = true) {
  return {name, usable, name == "lo", {"10.0.0.1"}};
}

std::vector<NetDevice> some_devices() {
  return {interface_named("eth0"),      interface_named("eth0.100"),   interface_named("eth1", false),
          interface_named("lo"),        {"mlx5_0:1", true, false, {}}, {"mlx5_0:2", false, false, {}},
          {"mlx5_1:1", true, false, {}}};
}

std::string error_of(std::string_view selection, const std::vector<NetDevice>& existing) {
  try {
    (void)choose_devices(selection, existing);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Devices, EmptyLeavesItToUcx) {
  const DeviceChoice choice = choose_devices("", some_devices());
  EXPECT_EQ(choice.ucx_value, "");
  EXPECT_THAT(choice.reason, HasSubstr("left to UCX, of eth0, eth0.100, eth1 (down), lo"));
}

TEST(Devices, NamedInterfacesAreRailsForTheProcessesOfAHost) {
  const std::vector<NetDevice> devices{interface_named("eth0"),
                                       interface_named("eth1"),
                                       interface_named("eth2", false),
                                       interface_named("lo"),
                                       {"mlx5_0:1", true, false, {}}};
  EXPECT_EQ(rails_of("eth0,eth1", devices, 2), 2);
  EXPECT_EQ(device_of("eth0,eth1", devices, {.index = 0, .count = 2}), "eth0");
  EXPECT_EQ(device_of("eth0,eth1", devices, {.index = 3, .count = 4}), "eth1");
  EXPECT_EQ(rails_of("eth0,eth1", devices, 1), 1) << "one process: all devices are UCX's to use";
  EXPECT_EQ(rails_of("", devices, 8), 1) << "which interfaces lead to the other nodes nobody has said";
  EXPECT_EQ(rails_of("eth0,eth2", devices, 8), 1) << "one is down";
  EXPECT_EQ(rails_of("eth0,lo", devices, 8), 1);
  EXPECT_EQ(rails_of("eth0,eth1,mlx5_0:1", devices, 8), 1) << "ports are UCX's to choose among";
}

TEST(Devices, NamesAreExactNotPrefixes) {
  EXPECT_EQ(choose_devices("eth0", some_devices()).ucx_value, "eth0");
  EXPECT_EQ(choose_devices(" mlx5_1:1 , eth0", some_devices()).ucx_value, "mlx5_1:1,eth0");
  EXPECT_THAT(error_of("eth", some_devices()), HasSubstr("no network device 'eth' here; there are: eth0"));
  EXPECT_THAT(error_of("eth0,eth9", some_devices()), HasSubstr("'eth9'"));
}

TEST(Devices, AnInfinibandNameStandsForAllItsPorts) {
  EXPECT_EQ(choose_devices("mlx5_1", some_devices()).ucx_value, "mlx5_1:1");
  EXPECT_THAT(error_of("mlx5_0", some_devices()), HasSubstr("mlx5_0:2 is down"));
  EXPECT_EQ(choose_devices("^mlx5_0,eth0", some_devices()).ucx_value, "eth0.100,mlx5_1:1");
}

TEST(Devices, ExclusionKeepsTheUsableRest) {
  EXPECT_EQ(choose_devices("^eth0", some_devices()).ucx_value, "eth0.100,mlx5_0:1,mlx5_1:1");
  EXPECT_THAT(choose_devices("^eth0", some_devices()).reason, HasSubstr("all usable ones but eth0"));
}

TEST(Devices, LoopbackIsTheLastResort) {
  const std::vector<NetDevice> devices = {interface_named("eth0"), interface_named("lo")};
  EXPECT_EQ(choose_devices("^eth0", devices).ucx_value, "lo");
  EXPECT_EQ(choose_devices("^lo", devices).ucx_value, "eth0");
  EXPECT_THAT(error_of("^eth0,lo", devices), HasSubstr("no usable network device is left"));
}

TEST(Devices, BadSelections) {
  EXPECT_THAT(error_of("^", some_devices()), HasSubstr("followed by the names"));
  EXPECT_THAT(error_of("^nosuch", some_devices()), HasSubstr("no network device 'nosuch'"));
  EXPECT_THAT(error_of("eth1", some_devices()), HasSubstr("down"));
}

TEST(Devices, ThisHostHasALoopback) {
  bool found = false;
  for (const NetDevice& device : network_devices()) found = found || (device.loopback && device.usable);
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace umbel::net
