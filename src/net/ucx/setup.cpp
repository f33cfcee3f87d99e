// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/setup.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include "base/error.hpp"
#include "net/ucx/message.hpp"
#include "net/ucx/worker.hpp"

namespace umbel::net {
namespace {

struct ConfigRelease {
  void operator()(ucp_config_t* config) const noexcept { ucp_config_release(config); }
};
using Config = std::unique_ptr<ucp_config_t, ConfigRelease>;

Config read_config() {
  ucp_config_t* config = nullptr;
  check_ucx(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  return Config(config);
}

void set(const Config& config, const char* name, const std::string& value) {
  check_ucx(ucp_config_modify(config.get(), name, value.c_str()), fmt::format("UCX setting {}={}", name, value));
}

/// Over TCP a rendezvous costs more than it saves up to here. Its question and answer stand in line behind bulk data in
/// both directions: over links of 2 Gbit/s chunks of 512 KiB take 16 MB from 1.25 to 1.1 times the links' bound when
/// they go eagerly; over the loopback it makes no difference. UCX's own threshold is right for InfiniBand.
constexpr std::size_t kTcpEagerBytes = std::size_t{1} << 20U;

/// Will all traffic go over TCP? (No InfiniBand port among what UCX may use.) When in doubt, no.
bool only_tcp(const std::vector<NetDevice>& existing, const DeviceChoice& choice) {
  const char* environment = std::getenv("UCX_NET_DEVICES");
  const std::string chosen = !choice.ucx_value.empty() ? choice.ucx_value : environment != nullptr ? environment : "";
  return std::none_of(existing.begin(), existing.end(), [&chosen](const NetDevice& device) {
    const bool may = chosen.empty() || chosen.find(device.name) != std::string::npos;
    return may && device.usable && device.addresses.empty();
  });
}

/// Settles transports and devices, and says for people what they are.
void configure(const Config& config, std::string_view net_devices, HostPlace place, UcxObjects& made) {
  // Shared memory is Umbel's own business: with UCX's, ranks of one host would bypass the network even where they are
  // meant to stand for several hosts.
  const char* transports = std::getenv("UCX_TLS");
  if (transports == nullptr) set(config, "TLS", "^sm");
  const std::vector<NetDevice> existing = network_devices();
  const DeviceChoice choice = choose_devices(net_devices, existing);
  if (only_tcp(existing, choice) && std::getenv("UCX_RNDV_THRESH") == nullptr) {
    set(config, "RNDV_THRESH", std::to_string(kTcpEagerBytes + sizeof(MessageHeader) + 1));
  }
  const char* environment = std::getenv("UCX_NET_DEVICES");
  std::string devices = choice.reason;
  if (choice.ucx_value.empty() && environment != nullptr) devices = fmt::format("{} (UCX_NET_DEVICES)", environment);
  const std::string chosen = !choice.ucx_value.empty() ? choice.ucx_value : environment != nullptr ? environment : "";
  if (const int rails = rails_of(chosen, existing, place.count); rails > 1) {
    const std::string device = device_of(chosen, existing, place);
    made.rail = place.index % rails;
    devices = fmt::format("{}, one of {}", device, devices);
    set(config, "NET_DEVICES", device);
  } else if (!choice.ucx_value.empty()) {
    set(config, "NET_DEVICES", choice.ucx_value);
  }
  made.device_text =
      fmt::format("UCX {}, devices: {}; transports: {}", ucx_version(), devices,
                  transports == nullptr ? "all but shared memory" : fmt::format("{} (UCX_TLS)", transports));
}

ucp_context_h make_context(const Config& config, const std::string& device_text) {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.mt_workers_shared = 0;
  params.name = "umbel";
  ucp_context_h context = nullptr;
  check_ucx(ucp_init(&params, config.get(), &context), fmt::format("ucp_init ({})", device_text));
  return context;
}

ucp_worker_h make_worker(ucp_context_h context) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // any thread, one at a time
  ucp_worker_h worker = nullptr;
  check_ucx(ucp_worker_create(context, &params, &worker), "ucp_worker_create");
  return worker;
}

std::string make_address(ucp_worker_h worker, const std::string& device_text) {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check_ucx(ucp_worker_get_address(worker, &address, &bytes), "ucp_worker_get_address");
  const std::uint64_t length = bytes;
  std::string text(reinterpret_cast<const char*>(&length), sizeof length);
  text.append(reinterpret_cast<const char*>(address), bytes);
  ucp_worker_release_address(worker, address);
  return text + device_text;
}

}  // namespace

void check_ucx(ucs_status_t status, std::string_view what) {
  if (status != UCS_OK) throw UcxError(fmt::format("{}: {}", what, ucs_status_string(status)));
}

UcxObjects open_ucx(std::string_view net_devices, HostPlace place) {
  const Config config = read_config();
  UcxObjects made;
  configure(config, net_devices, place, made);
  made.context.reset(make_context(config, made.device_text));
  made.worker.reset(make_worker(made.context.get()));
  check_ucx(ucp_worker_get_efd(made.worker.get(), &made.event_fd), "ucp_worker_get_efd");
  made.address = make_address(made.worker.get(), made.device_text);
  return made;
}

PeerAddress parse_address(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() >= sizeof length) std::memcpy(&length, bytes.data(), sizeof length);
  if (length == 0 || length > bytes.size() - sizeof length) throw InvalidArgument("not an address of a transport");
  bytes.remove_prefix(sizeof length);
  return {std::string(bytes.substr(0, length)), std::string(bytes.substr(length))};
}

std::string ucx_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp_get_version(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace umbel::net
