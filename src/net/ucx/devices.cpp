// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/devices.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/ranges.h>

#include "base/error.hpp"

namespace umbel::net {
namespace {

std::string address_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  if (address->sa_family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (bytes == nullptr || inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr) return {};
  return text.data();
}

std::map<std::string, NetDevice> interfaces() {
  std::map<std::string, NetDevice> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) throw_system_error("getifaddrs", errno);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    NetDevice& device = found[entry->ifa_name];
    device.name = entry->ifa_name;
    device.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    if (entry->ifa_addr == nullptr) continue;
    const std::string address = address_text(entry->ifa_addr);
    if (address.empty()) continue;
    device.addresses.push_back(address);
    device.usable = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
  }
  freeifaddrs(list);
  return found;
}

std::vector<NetDevice> infiniband_ports() {
  namespace fs = std::filesystem;
  std::vector<NetDevice> found;
  std::error_code error;
  for (const auto& device : fs::directory_iterator("/sys/class/infiniband", error)) {
    for (const auto& port : fs::directory_iterator(device.path() / "ports", error)) {
      std::ifstream file(port.path() / "state");
      std::string state;
      std::getline(file, state);
      NetDevice entry;
      entry.name = device.path().filename().string() + ":" + port.path().filename().string();
      entry.usable = state.find("ACTIVE") != std::string::npos;
      found.push_back(std::move(entry));
    }
  }
  return found;
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return names;
}

/// `mlx5_0` names every port of that device, `mlx5_0:1` one; interfaces have no ports, a colon belongs to their name.
bool names_device(const std::string& name, const NetDevice& device) {
  return device.name == name || (device.addresses.empty() && device.name.rfind(name + ":", 0) == 0);
}

std::string list_text(const std::vector<NetDevice>& devices) {
  std::vector<std::string> texts;
  for (const NetDevice& device : devices) texts.push_back(device.name + (device.usable ? "" : " (down)"));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

DeviceChoice choose_named(const std::vector<std::string>& names, const std::vector<NetDevice>& existing) {
  std::vector<std::string> chosen;
  for (const std::string& name : names) {
    for (const NetDevice& device : existing) {
      if (!names_device(name, device)) continue;
      if (!device.usable)
        throw InvalidArgument(fmt::format("network device {} is down or has no address", device.name));
      chosen.push_back(device.name);
    }
  }
  return {fmt::format("{}", fmt::join(chosen, ",")), fmt::format("{} (as asked)", fmt::join(chosen, ", "))};
}

/// All usable devices but those named. The loopback reaches no other host, so it is taken only when it is all there is.
DeviceChoice choose_others(const std::vector<std::string>& names, const std::vector<NetDevice>& existing) {
  std::vector<std::string> chosen;
  std::vector<std::string> loopbacks;
  for (const NetDevice& device : existing) {
    const bool excluded =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return names_device(name, device); });
    if (excluded || !device.usable) continue;
    (device.loopback ? loopbacks : chosen).push_back(device.name);
  }
  if (chosen.empty()) chosen = loopbacks;
  if (chosen.empty()) {
    throw InvalidArgument(fmt::format("no usable network device is left without {}; there are: {}",
                                      fmt::join(names, ", "), list_text(existing)));
  }
  return {fmt::format("{}", fmt::join(chosen, ",")),
          fmt::format("{} (all usable ones but {})", fmt::join(chosen, ", "), fmt::join(names, ", "))};
}

}  // namespace

std::vector<NetDevice> network_devices() {
  std::vector<NetDevice> devices = infiniband_ports();
  for (auto& [name, device] : interfaces()) devices.push_back(std::move(device));
  std::sort(devices.begin(), devices.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return devices;
}

DeviceChoice choose_devices(std::string_view selection, const std::vector<NetDevice>& existing) {
  const bool exclude = !selection.empty() && selection.front() == '^';
  const std::vector<std::string> names = split_names(exclude ? selection.substr(1) : selection);
  if (names.empty()) {
    if (exclude) throw InvalidArgument("network devices: '^' must be followed by the names not to use");
    return {{}, fmt::format("left to UCX, of {}", list_text(existing))};
  }
  for (const std::string& name : names) {
    const bool known =
        std::any_of(existing.begin(), existing.end(), [&](const NetDevice& d) { return names_device(name, d); });
    if (!known) {
      throw InvalidArgument(
          fmt::format("there is no network device '{}' here; there are: {}", name, list_text(existing)));
    }
  }
  return exclude ? choose_others(names, existing) : choose_named(names, existing);
}

namespace {

/// The usable interfaces that are named; none when an InfiniBand port is among them: of ports UCX takes the nearest,
/// and several for a long message, as it does not of interfaces.
std::vector<std::string> interfaces_of(std::string_view chosen, const std::vector<NetDevice>& existing) {
  std::vector<std::string> names;
  for (const std::string& name : split_names(chosen)) {
    for (const NetDevice& device : existing) {
      if (!names_device(name, device) || !device.usable || device.loopback) continue;
      if (device.addresses.empty()) return {};
      names.push_back(device.name);
    }
  }
  return names;
}

}  // namespace

int rails_of(std::string_view chosen, const std::vector<NetDevice>& existing, int processes) {
  const int devices = static_cast<int>(interfaces_of(chosen, existing).size());
  return processes >= devices && devices > 1 ? devices : 1;
}

std::string device_of(std::string_view chosen, const std::vector<NetDevice>& existing, HostPlace place) {
  const std::vector<std::string> names = interfaces_of(chosen, existing);
  return names.at(static_cast<std::size_t>(place.index) % names.size());
}

}  // namespace umbel::net
