// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/founding.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "net/fork.hpp"
#include "net/window/cma.hpp"
#include "net/window/memory_limits.hpp"
#include "runtime/agreement.hpp"
#include "runtime/forced.hpp"
#include "runtime/placement.hpp"
#include "runtime/topology.hpp"
#include "runtime/tuning.hpp"

#ifndef UMBEL_VERSION_TEXT
#error "the build says which version this is"
#endif

namespace umbel::runtime {
namespace {

/// What each rank tells of itself.
struct Identity {
  Attachment::Place place;
  net::ProcessId process;
  net::HostHint host;
  std::uint64_t boot_id = 0;
  std::bitset<kMaxCores> cores;
};

std::uint64_t token(std::uint64_t nonce, Rank from, Rank to) {
  const std::uint64_t mixed =
      (nonce ^ static_cast<std::uint64_t>(from) << 32U ^ static_cast<std::uint64_t>(to)) * 0x9e3779b97f4a7c15U;
  return mixed | 1U;  // never the zero of nobody
}

/// The log's variables, and a warning for each UMBEL_* variable that there is not; once a process.
void prepare_log(const Config& config, Rank rank) {
  configure_log(config.debug, SubsystemSet::parse(config.debug_subsystems));
  static std::once_flag once;
  std::call_once(once, [rank] {
    set_log_rank(rank);
    if (rank != 0) return;  // the environment is usually the same everywhere: one warning is enough
    for (const std::string& message : unknown_variables()) log_warn(Subsystem::init, "{}", message);
  });
}

Config settle(const CommOptions& options, Rank rank) {
  net::refuse_if_forked("making a communicator");
  if (options.refused) std::rethrow_exception(options.refused);
  Config config = options.config ? *options.config : Config::from_environment();
  if (!options.config) prepare_log(config, rank);
  if (!options.algorithm.empty()) config.algorithm = options.algorithm;
  if (!options.placement.empty()) config.nodes = options.placement;
  if (options.timeout.count() > 0)
    config.timeout =
        std::max(std::chrono::milliseconds(1), std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout));
  config.reproducible = config.reproducible || options.reproducible;
  config.registered = config.registered || options.registered;
  (void)ForcedAlgorithms(config.algorithm);  // throws
  return config;
}

/// All ranks of a host take theirs at the same time: each alone may find that there is enough.
void require_memory(std::size_t bytes, std::size_t ranks) {
  const std::string obstacle = net::memory_obstacle(bytes * ranks);
  if (!obstacle.empty())
    throw SystemError(
        fmt::format("the {} ranks of this host need {} of shared memory: {}; UMBEL_WINDOW_BYTES sets the size", ranks,
                    net::bytes_text(bytes * ranks), obstacle));
}

/// Maps whose memory can be mapped, and proves it by a write in both directions.
Reach map_peers(const net::Bootstrap& bootstrap, const std::vector<Identity>& all, std::uint64_t nonce,
                Founded& founded) {
  Members& members = founded.members;
  agree(bootstrap, "map the memory of its node-mates", [&] {
    for (Rank peer = 0; peer < bootstrap.size; ++peer) {
      const Identity& identity = all[static_cast<std::size_t>(peer)];
      if (!all[static_cast<std::size_t>(bootstrap.rank)].host.may_share_memory(identity.host)) continue;
      std::optional<Attachment> made =
          Attachment::make(identity.place, founded.layout, nonce, bootstrap.rank, token(nonce, bootstrap.rank, peer));
      if (made) members.at(peer).attachment.emplace(std::move(*made));
    }
  });
  bootstrap.barrier();
  Reach reach{.ranks = bootstrap.size, .bits = {}};
  std::vector<std::uint8_t> row(static_cast<std::size_t>(bootstrap.size));
  for (Rank peer = 0; peer < bootstrap.size; ++peer) {
    const std::uint64_t left = founded.arena.tokens()[static_cast<std::size_t>(peer)].load(std::memory_order_acquire);
    const bool heard = left == token(nonce, peer, bootstrap.rank);
    row[static_cast<std::size_t>(peer)] = members.at(peer).attachment.has_value() && heard ? 1 : 0;
  }
  reach.bits.resize(row.size() * row.size());
  bootstrap.allgather(row.data(), reach.bits.data(), row.size());
  return reach;
}

void fill_members(Members& members, const std::vector<Identity>& all) {
  const Identity& own = all[static_cast<std::size_t>(members.me)];
  for (Rank rank = 0; rank < members.size(); ++rank) {
    const Identity& identity = all[static_cast<std::size_t>(rank)];
    Member& member = members.at(rank);
    member.process = identity.process;
    member.host = identity.host;
    if (!members.local(rank)) {
      member.attachment.reset();  // ranks of other (virtual) nodes are reached through the network alone
      continue;
    }
    member.same_process = member.process == own.process;
    member.arena = member.attachment->arena();
    member.bell = &member.attachment->bell();
  }
}

/// Whether every rank can read the user memory of all its node-mates, and how.
void settle_direct(const net::Bootstrap& bootstrap, Founded& founded) {
  struct Probe {
    std::uint64_t value = 0;
    std::uint64_t address = 0;
  };
  struct Verdict {
    bool works = true;
    char reason[200] = {};
  };
  net::allow_cma();
  const std::uint64_t value = net::random_bits();
  const auto probes = net::all_gather(bootstrap, Probe{value, reinterpret_cast<std::uint64_t>(&value)});
  Verdict mine;
  if (founded.config.cma == CmaMode::off) {
    mine = {.works = false, .reason = "off (UMBEL_CMA)"};
  } else {
    for (Rank peer : founded.members.shape.peers_of(bootstrap.rank)) {
      const Member& member = founded.members.at(peer);
      if (member.same_process || !mine.works) continue;
      const Probe& probe = probes[static_cast<std::size_t>(peer)];
      const net::CmaProbe result = net::probe_cma(member.process.pid, probe.address, probe.value);
      if (result.works) continue;
      mine.works = false;
      result.reason.copy(mine.reason, sizeof(mine.reason) - 1);
    }
  }
  const auto verdicts = net::all_gather(bootstrap, mine);  // also keeps `value` alive until all have probed
  const auto refused = std::ranges::find(verdicts, false, &Verdict::works);
  founded.direct = refused == verdicts.end();
  founded.direct_text =
      founded.direct ? "works" : fmt::format("rank {}: {}", refused - verdicts.begin(), refused->reason);
  if (!founded.direct && founded.config.cma == CmaMode::on)
    throw SystemError("UMBEL_CMA=on, but process_vm_readv does not work: " + founded.direct_text);
  if (!founded.direct && founded.config.cma == CmaMode::automatic && bootstrap.rank == 0) {
    static std::once_flag once;
    std::call_once(once, [&founded] {
      log_warn(Subsystem::window,
               "ranks of a node cannot read each other's memory by process_vm_readv, data goes through shared memory: "
               "{}; UMBEL_CMA=off silences this",
               founded.direct_text);
    });
  }
}

void count_cores(const std::vector<Identity>& all, Rank me, Founded& founded) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::bitset<kMaxCores> cores;
    double ranks = 0;
    for (const Identity& other : all)
      if (other.boot_id == all[rank].boot_id) {
        cores |= other.cores;
        ++ranks;
      }
    const double load = ranks / static_cast<double>(std::max<std::size_t>(1, cores.count()));
    founded.ranks_per_core = std::max(founded.ranks_per_core, load);
    if (static_cast<Rank>(rank) == me) founded.crowded = load > 1;
  }
}

/// @return rails: links that the ranks of each node use
int open_network(const net::Bootstrap& bootstrap, std::uint64_t nonce, Founded& founded) {
  Members& members = founded.members;
  const Shape& shape = members.shape;
  int rail = 0;
  agree(bootstrap, "open the network", [&] {
    const net::HostPlace place{.index = shape.local_index(members.me),
                               .count = static_cast<int>(shape.peers_of(members.me).size())};
    net::Worker& worker = founded.context->worker(founded.config.net_devices.to_text(), place);
    rail = worker.rail();
    members.transport = std::make_unique<net::Transport>(
        net::TransportOptions{.worker = &worker, .rank = bootstrap.rank, .peers = bootstrap.size, .nonce = nonce});
  });
  const std::vector<std::string> addresses = net::all_gather_bytes(bootstrap, members.transport->address());
  for (Rank rank = 0; rank < members.size(); ++rank)
    members.at(rank).address = addresses[static_cast<std::size_t>(rank)];
  // Of the node that has fewest.
  const std::vector<int> rails = net::all_gather(bootstrap, rail);
  int fewest = shape.ranks();
  for (int node = 0; node < shape.nodes(); ++node) {
    std::set<int> used;
    for (const Rank rank : shape.node_ranks(node)) used.insert(rails[static_cast<std::size_t>(rank)]);
    fewest = std::min(fewest, static_cast<int>(used.size()));
  }
  return fewest;
}

}  // namespace

Founded found(const net::Bootstrap& bootstrap, const CommOptions& options) {
  Config config;
  agree(bootstrap, "start", [&] { config = settle(options, bootstrap.rank); });
  const Handshake handshake = shake_hands(bootstrap, UMBEL_VERSION_TEXT, config.agreed_text());
  const ArenaLayout layout = ArenaLayout::of(config.window_bytes, static_cast<std::size_t>(bootstrap.size));
  Context& context = Context::of_process(handshake.same_process);
  std::optional<ArenaLease> arena;
  agree(bootstrap, "make its shared memory", [&] {
    require_memory(layout.total(), handshake.same_host);
    arena.emplace(context.lease(layout.total(), ArenaLayout::tokens_at(), layout.ranks));
    // Everything else is right as zeroes.
    (new (arena->data()) Header)->nonce.store(handshake.nonce, std::memory_order_release);
  });
  const Context::BellPlace bell = context.bell_place();
  const Identity mine{.place = {.window = arena->window(),
                                .offset = arena->offset(),
                                .bell_window = bell.window,
                                .bell_offset = bell.offset},
                      .process = net::this_process(),
                      .host = net::host_hint(),
                      .boot_id = net::host_hint().boot_id,
                      .cores = host_topology().allowed_cores};
  const std::vector<Identity> all = net::all_gather(bootstrap, mine);
  std::vector<net::ProcessId> processes;
  for (const Identity& identity : all) processes.push_back(identity.process);
  arena->set_holders(std::move(processes));

  Founded founded{.config = config,
                  .layout = layout,
                  .context = &context,
                  .arena = std::move(*arena),
                  .members = {},
                  .direct_text = {}};
  Members& members = founded.members;
  members.me = bootstrap.rank;
  members.all.resize(static_cast<std::size_t>(bootstrap.size));
  const Reach reach = map_peers(bootstrap, all, handshake.nonce, founded);
  members.shape = config.nodes.empty() ? shape_from_reach(reach) : shape_from_placement(config.nodes, reach);
  fill_members(members, all);
  count_cores(all, bootstrap.rank, founded);
  settle_direct(bootstrap, founded);
  const int rails = members.shape.nodes() > 1 ? open_network(bootstrap, handshake.nonce, founded) : 1;
  founded.measured = measure(bootstrap, members, founded.direct, founded.ranks_per_core);
  founded.measured.model.rails = rails;
  founded.tuning_text = apply_tuning(bootstrap,
                                     {.setting = options.tuning == TuningUse::never ? "off" : config.tuning,
                                      .must_be_read = options.tuning == TuningUse::as_set,
                                      .topology = topology_of(founded),
                                      .version = UMBEL_VERSION_TEXT,
                                      .at_start = founded.measured.model},
                                     founded.measured.model);
  // Without CMA a rank whose buffer is not registered after all could not be served: the hint is not followed then.
  founded.registered = config.registered && founded.direct;
  if (founded.registered) founded.measured.model.direct_beta = founded.measured.model.local_beta;
  log_info(Subsystem::init, "{} ranks on {} nodes; CMA {}; {}", members.size(), members.shape.nodes(),
           founded.direct_text,
           members.transport ? members.transport->device_text() : std::string("no network needed"));
  return founded;
}

JobTopology topology_of(const Founded& founded) {
  const std::string& processor = host_topology().cpu_model;
  const net::Transport* transport = founded.members.transport.get();
  return {.ranks_on_nodes = ranks_on_nodes(founded.members.shape),
          .ranks_per_core = founded.ranks_per_core,
          .rails = static_cast<int>(founded.measured.model.rails),
          .processor = processor.empty() ? "unknown" : processor,
          .cma = founded.direct,
          .network = transport != nullptr ? transport->device_text() : ""};
}

}  // namespace umbel::runtime
