// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "placed.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/config.hpp"
#include "base/error.hpp"
#include "runtime/forced.hpp"
#include "runtime/placement.hpp"

namespace umbel::plan {
namespace {

using algos::simulate::Cluster;
using Json = nlohmann::ordered_json;

/// Bytes with a K, M or G behind them.
std::uint64_t size_of_text(std::string_view text) {
  std::uint64_t value = 0, unit = 1;
  std::string_view digits = text;
  const std::string_view units = "KMG";
  if (!text.empty()) {
    const auto place = units.find(static_cast<char>(text.back() & ~0x20));
    if (place != std::string_view::npos) {
      unit <<= 10U * (place + 1);
      digits.remove_suffix(1);
    }
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
  if (error != std::errc{} || end != digits.data() + digits.size() || value > kMost / unit)
    throw InvalidArgument(fmt::format("'{}' is not a size such as 8, 64K, 1M or 2G", text));
  return value * unit;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

/// The figures of a cluster by the names that its file has for them.
std::vector<std::pair<std::string, double Cluster::*>> figures() {
  return {{"flag_s", &Cluster::flag_s},
          {"signal_s", &Cluster::signal_s},
          {"read_beta", &Cluster::read_beta},
          {"direct_beta", &Cluster::direct_beta},
          {"copy_beta", &Cluster::copy_beta},
          {"gamma", &Cluster::gamma},
          {"cache_bytes", &Cluster::cache_bytes},
          {"spill_per_doubling", &Cluster::spill_per_doubling},
          {"spill_worst", &Cluster::spill_worst},
          {"cores_per_node", &Cluster::cores_per_node},
          {"memory_beta", &Cluster::memory_beta},
          {"message_s", &Cluster::message_s},
          {"message_cpu_s", &Cluster::message_cpu_s},
          {"wire_beta", &Cluster::wire_beta},
          {"eager_bytes", &Cluster::eager_bytes}};
}

void read_figure(Cluster& cluster, const std::string& name, const nlohmann::json& value) {
  if (name == "rails") {
    cluster.rails = value.get<int>();
    return;
  }
  if (name == "uplinks") {
    for (const nlohmann::json& link : value)
      cluster.uplinks.push_back({.alpha = link.value("alpha", 0.0), .beta = link.value("beta", 0.0)});
    return;
  }
  const auto known = figures();
  const auto found = std::ranges::find(known, name, &std::pair<std::string, double Cluster::*>::first);
  if (found != known.end()) {
    cluster.*found->second = value.get<double>();
    return;
  }
  std::vector<std::string> names;
  for (const auto& [other, member] : known) names.push_back(other);
  throw InvalidArgument(
      fmt::format("a cluster has no figure '{}'; there are {}, rails, uplinks", name, fmt::join(names, ", ")));
}

}  // namespace

Shape shape_of(int ranks, const std::string& nodes) {
  return nodes.empty() ? Shape::one_node(ranks) : Shape::from_paths(runtime::parse_placement(nodes, ranks));
}

std::vector<std::uint64_t> sizes_of(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  const auto range = split(text, ':');
  if (range.size() == 1) {
    for (std::string_view part : split(text, ',')) sizes.push_back(size_of_text(part));
    return sizes;
  }
  const std::string_view step = range.size() == 3 ? range[2] : "x2";
  if (range.size() > 3 || step.size() < 2 || (step.front() != 'x' && step.front() != '+'))
    throw InvalidArgument(fmt::format("'{}' is not a range of sizes such as 8:64M:x4 or 1M:8M:+1M", text));
  const bool factor = step.front() == 'x';
  const std::uint64_t first = size_of_text(range[0]), last = size_of_text(range[1]);
  const std::uint64_t by = size_of_text(step.substr(1));
  if (by < (factor ? 2U : 1U) || (factor && first == 0) || first > last)
    throw InvalidArgument(fmt::format("the range of sizes '{}' does not go up", text));
  constexpr std::size_t kMost = 1000;
  for (std::uint64_t size = first; size <= last; size = factor ? size * by : size + by) {
    if (sizes.size() == kMost) throw InvalidArgument(fmt::format("'{}' has more than {} sizes", text, kMost));
    sizes.push_back(size);
    if (factor && size > last / by) break;
  }
  return sizes;
}

Cluster read_cluster(const std::string& path) {
  if (path.empty()) return {};
  const nlohmann::json document = read_json(path);
  if (!document.is_object()) throw InvalidArgument(fmt::format("{}: not an object of figures", path));
  Cluster cluster;
  try {
    for (const auto& [name, value] : document.items()) read_figure(cluster, name, value);
  } catch (const nlohmann::json::exception& error) {
    throw InvalidArgument(fmt::format("{}: {}", path, error.what()));
  }
  if (const std::string wrong = complaint(cluster); !wrong.empty())
    throw InvalidArgument(fmt::format("{}: {}", path, wrong));
  return cluster;
}

Json to_json(const Cluster& cluster) {
  Json document;
  for (const auto& [name, member] : figures()) document[name] = cluster.*member;
  document["rails"] = cluster.rails;
  document["uplinks"] = Json::array();
  for (const Cluster::Uplink& link : cluster.uplinks)
    document["uplinks"].push_back({{"alpha", link.alpha}, {"beta", link.beta}});
  return document;
}

algos::Model model_of(const Cluster& cluster, const Shape& shape) {
  const double crowd = cluster.cores_per_node > 0 ? shape.largest_node() / cluster.cores_per_node : 1;
  return {.local_alpha = cluster.flag_s,
          .local_beta = cluster.read_beta,
          .direct_beta = cluster.direct_beta,
          .copy_beta = cluster.copy_beta,
          .gamma = cluster.gamma,
          .net_alpha = cluster.message_s,
          .net_post = 2 * cluster.message_cpu_s,
          .net_beta = cluster.wire_beta,
          .cache_bytes = cluster.cache_bytes,
          .ranks_per_core = std::max(1.0, crowd)};
}

namespace {

Collective collective_of(const CallOptions& options) {
  const std::optional<Collective> found = collective_named(options.collective);
  if (!found) throw InvalidArgument("which collective?");
  return *found;
}

Cluster cluster_of(const CallOptions& options, const std::optional<algos::Model>& model, const Shape& shape) {
  Cluster cluster = model ? algos::simulate::from_model(*model, shape) : read_cluster(options.cluster);
  if (options.registered) cluster.direct_beta = cluster.read_beta;
  return cluster;
}

runtime::PlannerInputs planner_inputs(const CallOptions& options, const Shape& shape, algos::Model model) {
  if (options.registered) model.direct_beta = model.local_beta;
  return {.shape = shape,
          .model = model,
          .layout = runtime::ArenaLayout::of(Config{}.window_bytes, static_cast<std::size_t>(shape.ranks())),
          .direct = options.direct || options.registered};
}

}  // namespace

Placed::Placed(const CallOptions& options, const std::optional<algos::Model>& model)
    : collective_(collective_of(options)),
      shape_(shape_of(options.ranks, options.nodes)),
      cluster_(cluster_of(options, model, shape_)),
      root_(options.root),
      planner_(planner_inputs(options, shape_, model ? *model : model_of(cluster_, shape_))) {
  const auto dtype = parse_dtype(options.dtype);
  const auto op = parse_redop(options.op);
  if (!dtype) throw InvalidArgument(fmt::format("there is no type '{}'", options.dtype));
  if (!op) throw InvalidArgument(fmt::format("there is no operation '{}'", options.op));
  dtype_ = *dtype;
  if (root_ < 0 || root_ >= shape_.ranks())
    throw InvalidArgument(fmt::format("root {} is not one of {} ranks", root_, shape_.ranks()));
  if (!rooted(collective_)) root_ = 0;
  // Of two ranks' values there is one fold only.
  in_order_ = options.reproducible && reduces(collective_) && shape_.ranks() > 2 &&
              runtime::arithmetic_of(*dtype, *op) != runtime::Arithmetic::exact;
  if (options.algorithm != "all") algorithm_ = runtime::algorithm_index(collective_, options.algorithm);
}

std::uint64_t Placed::count_of(std::uint64_t bytes) const {
  if (collective_ == Collective::barrier) return 0;
  if (bytes % elem_bytes() != 0)
    throw InvalidArgument(fmt::format("{} bytes are not a whole number of {} elements", bytes, name_of(dtype_)));
  return bytes / elem_bytes();
}

runtime::PlanKey Placed::key(std::uint64_t count, std::int32_t algorithm) const {
  return {.collective = collective_,
          .count = count,
          .elem_bytes = static_cast<std::uint32_t>(elem_bytes()),
          .in_order = in_order_,
          .root = root_,
          .algorithm = algorithm};
}

std::vector<runtime::Candidate> Placed::candidates(std::uint64_t count) {
  return planner_.candidates(key(count, algorithm_));
}

algos::simulate::Outcome Placed::simulate(const runtime::Candidate& candidate, std::uint64_t count) const {
  return algos::simulate::run(*candidate.algorithm, shape_, candidate.spec, count, elem_bytes(), candidate.cut,
                              cluster_);
}

std::string Placed::text() const {
  return fmt::format("{} on {} rank{} of {} node{}", name_of(collective_), shape_.ranks(),
                     shape_.ranks() == 1 ? "" : "s", shape_.nodes(), shape_.nodes() == 1 ? "" : "s");
}

Json Placed::to_json() const {
  Json document;
  document["schema"] = 1;
  document["collective"] = name_of(collective_);
  document["ranks"] = shape_.ranks();
  document["nodes"] = shape_.nodes();
  document["root"] = root_;
  document["dtype"] = name_of(dtype_);
  document["cluster"] = plan::to_json(cluster_);
  return document;
}

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InvalidArgument(fmt::format("cannot read {}", path));
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    throw InvalidArgument(fmt::format("{} is not JSON: {}", path, error.what()));
  }
}

void write_json(const std::string& path, const Json& document) {
  std::ofstream file(path);
  file << document.dump(2) << '\n';
  if (!file.flush()) throw InvalidArgument(fmt::format("cannot write {}", path));
}

std::string bytes_text(std::uint64_t bytes) {
  for (const auto& [unit, letter] : {std::pair{std::uint64_t{1} << 30U, 'G'}, {1U << 20U, 'M'}, {1U << 10U, 'K'}})
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, letter);
  return fmt::format("{}", bytes);
}

std::string us_text(double seconds) {
  const double us = seconds * 1e6;
  return us < 100 ? fmt::format("{:.2f}", us) : fmt::format("{:.0f}", us);
}

}  // namespace umbel::plan
