// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/tuning_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace umbel::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

/// "2 nodes of 3, 1 node of 2".
std::string nodes_text(const std::vector<int>& ranks_on_nodes) {
  std::vector<std::string> groups;
  for (std::size_t at = 0; at < ranks_on_nodes.size();) {
    std::size_t end = at;
    while (end < ranks_on_nodes.size() && ranks_on_nodes[end] == ranks_on_nodes[at]) ++end;
    groups.push_back(fmt::format("{} node{} of {}", end - at, end - at == 1 ? "" : "s", ranks_on_nodes[at]));
    at = end;
  }
  return fmt::format("{}", fmt::join(groups, ", "));
}

/// Name and value of each field.
std::vector<std::pair<std::string_view, std::string>> fields(const JobTopology& topology) {
  return {{"ranks", nodes_text(topology.ranks_on_nodes)},
          {"ranks per core", fmt::format("{:g}", topology.ranks_per_core)},
          {"processor", topology.processor},
          {"CMA", topology.cma ? "works" : "does not work"},
          {"network", topology.network.empty() ? "none" : topology.network},
          {"rails", fmt::format("{}", topology.rails)}};
}

std::string hash_text(const JobTopology& topology) { return fmt::format("{:016x}", topology.hash()); }

// --- out -------------------------------------------------------------------------------------------------------------

Json to_json(const JobTopology& topology) {
  return {{"nodes", topology.ranks_on_nodes.size()},
          {"ranks_on_nodes", topology.ranks_on_nodes},
          {"ranks_per_core", topology.ranks_per_core},
          {"processor", topology.processor},
          {"cma", topology.cma},
          {"network", topology.network},
          {"rails", topology.rails},
          {"hash", hash_text(topology)}};
}

std::string text_of(const TuningFile& file) {
  Json document{{"schema", kSchema}, {"entries", Json::array()}};
  for (const TuningEntry& entry : file.entries) document["entries"].push_back(runtime::to_json(entry));
  // Names of hosts, processors and devices come from outside: bytes that are no UTF-8 are replaced, not thrown about.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// --- in --------------------------------------------------------------------------------------------------------------

double positive(const std::string& name, const Json& value) {
  const double number = value.is_number() ? value.get<double>() : 0;
  if (!(number > 0) || !std::isfinite(number))
    throw InvalidArgument(fmt::format("{} is {}, not a number above 0", name, value.dump()));
  return number;
}

int whole(const std::string& name, const Json& value) {
  const double number = positive(name, value);
  constexpr double kMost = 1 << 30;
  if (!value.is_number_integer() || number > kMost)
    throw InvalidArgument(fmt::format("{} is {}, not a whole number", name, value.dump()));
  return static_cast<int>(number);
}

JobTopology topology_from(const Json& json) {
  JobTopology topology;
  for (const Json& ranks : json.at("ranks_on_nodes")) topology.ranks_on_nodes.push_back(whole("ranks_on_nodes", ranks));
  topology.ranks_per_core = positive("ranks_per_core", json.at("ranks_per_core"));
  topology.rails = whole("rails", json.at("rails"));
  topology.processor = json.at("processor").get<std::string>();
  topology.cma = json.at("cma").get<bool>();
  topology.network = json.at("network").get<std::string>();
  if (json.at("nodes").get<std::size_t>() != topology.ranks_on_nodes.size() ||
      !std::ranges::is_sorted(topology.ranks_on_nodes, std::ranges::greater{}))
    throw InvalidArgument("ranks_on_nodes lists the ranks of each of the nodes, largest first");
  if (const auto hash = json.at("hash").get<std::string>(); hash != hash_text(topology))
    throw InvalidArgument(
        fmt::format("the hash of its topology is {}, not {}: it was changed by hand", hash_text(topology), hash));
  return topology;
}

Figures figures_from(const Json& json) {
  Figures figures{};
  for (const auto& [name, value] : json.items()) {
    const auto found = std::ranges::find(kTunedFigures, std::string_view(name), [](const auto& f) { return f.first; });
    if (found == kTunedFigures.end()) throw InvalidArgument(fmt::format("{} is no figure that is tuned", name));
    figures[static_cast<std::size_t>(found - kTunedFigures.begin())] = positive(name, value);
  }
  return figures;
}

TuningEntry entry_from(const Json& json) {
  TuningEntry entry;
  entry.topology = topology_from(json.at("topology"));
  const Json& made = json.at("made");
  entry.made = {.version = made.at("version").get<std::string>(),
                .revision = made.at("revision").get<std::string>(),
                .date = made.at("date").get<std::string>(),
                .host = made.at("host").get<std::string>()};
  entry.figures = figures_from(json.at("figures"));
  for (const auto& [name, figure] : algos::kModelFigures)
    entry.at_start.*figure = positive(std::string(name), json.at("at_start").at(std::string(name)));
  return entry;
}

TuningFile file_from(const Json& document) {
  if (!document.is_object()) throw InvalidArgument("not an object");
  if (const int schema = document.at("schema").get<int>(); schema != kSchema)
    throw InvalidArgument(fmt::format("its schema is {}, this version of Umbel reads {}", schema, kSchema));
  TuningFile file;
  for (const Json& json : document.at("entries")) {
    try {
      file.entries.push_back(entry_from(json));
    } catch (const std::exception& error) {
      throw InvalidArgument(fmt::format("entry {}: {}", file.entries.size() + 1, error.what()));
    }
  }
  return file;
}

}  // namespace

std::string figure_text(std::string_view name, double value) {
  return name.ends_with("alpha") ? fmt::format("{:.2f} us", value * 1e6)
                                 : fmt::format("{:.{}f} GB/s", 1e-9 / value, value > 1e-9 ? 3 : 1);
}

std::uint64_t JobTopology::hash() const {
  std::string all;
  for (const auto& [name, value] : fields(*this)) all += fmt::format("{}={}\n", name, value);
  return hash_of(all);
}

std::string JobTopology::text() const {
  int ranks = 0;
  for (const int on_node : ranks_on_nodes) ranks += on_node;
  return fmt::format("{} ranks, {}; {:g} a core; {}; CMA {}{}", ranks, nodes_text(ranks_on_nodes), ranks_per_core,
                     processor, cma ? "works" : "does not work", network.empty() ? "" : "; " + network);
}

std::vector<int> ranks_on_nodes(const Shape& shape) {
  std::vector<int> ranks;
  for (int node = 0; node < shape.nodes(); ++node) ranks.push_back(static_cast<int>(shape.node_ranks(node).size()));
  std::ranges::sort(ranks, std::ranges::greater{});
  return ranks;
}

std::vector<std::string> differences(const JobTopology& of, const JobTopology& here) {
  std::vector<std::string> found;
  const auto theirs = fields(of), ours = fields(here);
  for (std::size_t k = 0; k < theirs.size(); ++k)
    if (theirs[k] != ours[k])
      found.push_back(fmt::format("{}: {}, here {}", theirs[k].first, theirs[k].second, ours[k].second));
  return found;
}

std::string TuningEntry::provenance() const {
  return fmt::format("made {} on {} by Umbel {} ({})", made.date, made.host, made.version, made.revision);
}

algos::Model TuningEntry::tuned(algos::Model model) const {
  for (std::size_t k = 0; k < figures.size(); ++k)
    if (figures[k] > 0) model.*kTunedFigures[k].second = figures[k];
  return model;
}

void TuningFile::put(TuningEntry entry) {
  const auto same = std::ranges::find_if(
      entries, [&](const TuningEntry& known) { return differences(known.topology, entry.topology).empty(); });
  if (same == entries.end())
    entries.push_back(std::move(entry));
  else
    *same = std::move(entry);
}

Json to_json(const TuningEntry& entry) {
  Json json{{"topology", to_json(entry.topology)},
            {"made",
             {{"version", entry.made.version},
              {"revision", entry.made.revision},
              {"date", entry.made.date},
              {"host", entry.made.host}}},
            {"figures", Json::object()},
            {"at_start", Json::object()}};
  for (std::size_t k = 0; k < entry.figures.size(); ++k)
    if (entry.figures[k] > 0) json["figures"][std::string(kTunedFigures[k].first)] = entry.figures[k];
  for (const auto& [name, figure] : algos::kModelFigures) json["at_start"][std::string(name)] = entry.at_start.*figure;
  return json;
}

TuningFile read_tuning_file(const std::string& path) {
  errno = 0;
  std::ifstream stream(path);
  if (!stream)
    throw InvalidArgument(
        fmt::format("cannot read the tuning file {}: {}", path, std::generic_category().message(errno)));
  try {
    return file_from(Json::parse(stream));
  } catch (const std::exception& error) {
    throw InvalidArgument(fmt::format("{} is no tuning file: {}", path, error.what()));
  }
}

void write_tuning_file(const std::string& path, const TuningFile& file) {
  const std::string fresh = fmt::format("{}.{}", path, ::getpid());
  errno = 0;
  std::ofstream stream(fresh);
  stream << text_of(file);
  stream.close();
  if (!stream || std::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(fresh.c_str());
    throw_system_error("cannot write the tuning file " + path, error);
  }
}

}  // namespace umbel::runtime
