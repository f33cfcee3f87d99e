// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/worker.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <vector>

#include <fmt/core.h>

#include "base/error.hpp"
#include "net/ucx/devices.hpp"
#include "net/ucx/transport.hpp"

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

/// Over TCP a rendezvous costs more than it saves up to here: 64 KiB take 30 µs eagerly and 40 µs by rendezvous over
/// the loopback, and on a real link the question and answer come on top. UCX's own threshold is right for InfiniBand.
constexpr std::size_t kTcpEagerBytes = 65536;

/// Will all traffic go over TCP? (No InfiniBand port among what UCX may use.)
bool only_tcp(const std::vector<NetDevice>& existing) {
  return std::none_of(existing.begin(), existing.end(),
                      [](const NetDevice& device) { return device.usable && device.addresses.empty(); });
}

/// Settles transports and devices; returns them for people.
std::string configure(const Config& config, std::string_view net_devices) {
  // Shared memory is Umbel's own business: with UCX's, ranks of one host would bypass the network even where they are
  // meant to stand for several hosts.
  const char* transports = std::getenv("UCX_TLS");
  if (transports == nullptr) set(config, "TLS", "^sm");
  const std::vector<NetDevice> existing = network_devices();
  const DeviceChoice choice = choose_devices(net_devices, existing);
  if (only_tcp(existing) && std::getenv("UCX_RNDV_THRESH") == nullptr) {
    set(config, "RNDV_THRESH", std::to_string(kTcpEagerBytes + sizeof(MessageHeader) + 1));
  }
  if (!choice.ucx_value.empty()) set(config, "NET_DEVICES", choice.ucx_value);
  const char* environment = std::getenv("UCX_NET_DEVICES");
  std::string devices = choice.reason;
  if (choice.ucx_value.empty() && environment != nullptr) devices = fmt::format("{} (UCX_NET_DEVICES)", environment);
  return fmt::format("UCX {}, devices: {}; transports: {}", ucx_version(), devices,
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

Worker::Worker(std::string_view net_devices) {
  const Config config = read_config();
  device_text_ = configure(config, net_devices);
  context_.reset(make_context(config, device_text_));
  worker_.reset(make_worker(context_.get()));
  check_ucx(ucp_worker_get_efd(worker_.get(), &event_fd_), "ucp_worker_get_efd");
  address_ = make_address(worker_.get(), device_text_);
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

namespace {

/// Workers whose owners have gone, oldest first. Never destroyed itself: those that are left at the end of the process
/// stay as they are.
class Retired {
 public:
  static Retired& all() {
    static auto* retired = new Retired;
    return *retired;
  }

  void add(ucp_context_h context, ucp_worker_h worker) {
    const std::scoped_lock lock(mutex_);
    workers_.push_back({context, worker, Clock::now()});
    for (const Entry& entry : workers_) ucp_worker_progress(entry.worker);
    while (workers_.size() > kMost || Clock::now() - workers_.front().since > kAge) {
      ucp_worker_destroy(workers_.front().worker);
      ucp_cleanup(workers_.front().context);
      workers_.pop_front();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    ucp_context_h context;
    ucp_worker_h worker;
    Clock::time_point since;
  };
  static constexpr std::size_t kMost = 16;
  static constexpr std::chrono::seconds kAge{2};

  std::mutex mutex_;
  std::deque<Entry> workers_;
};

}  // namespace

void Worker::retire(std::initializer_list<unsigned> message_ids) noexcept {
  for (const unsigned id : message_ids) {
    ucp_am_handler_param_t params{};
    params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    params.id = id;
    params.cb = [](void*, const void*, std::size_t, void*, std::size_t, const ucp_am_recv_param_t*) { return UCS_OK; };
    if (ucp_worker_set_am_recv_handler(worker_.get(), &params) != UCS_OK) return leave_behind();
  }
  try {
    Retired::all().add(context_.get(), worker_.get());
    (void)context_.release();
    (void)worker_.release();
  } catch (...) {  // out of memory
    leave_behind();
  }
}

void Worker::leave_behind() noexcept {
  // Reachable, so that leak checkers see that it is on purpose.
  struct Left {
    ucp_context_h context;
    ucp_worker_h worker;
    Left* next;
  };
  static std::atomic<Left*> left{nullptr};
  auto* entry = new (std::nothrow) Left{context_.release(), worker_.release(), left.load()};
  while (entry != nullptr && !left.compare_exchange_weak(entry->next, entry)) {
  }
}

}  // namespace umbel::net
