// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <fmt/format.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "report.hpp"

namespace umbel::bench {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Timing& timing) {
  return {{"time_us", or_null(timing.time_us)},     {"p50_us", or_null(timing.p50_us)},
          {"p99_us", or_null(timing.p99_us)},       {"algbw_gbs", or_null(timing.algbw_gbs)},
          {"busbw_gbs", or_null(timing.busbw_gbs)}, {"wrong", or_null(timing.wrong)}};
}

Json to_json(const Row& row) {
  Json json;
  json["size_bytes"] = row.size_bytes;
  json["count"] = row.count;
  json["dtype"] = row.dtype;
  json["op"] = row.op;
  json["root"] = or_null(row.root);
  json["algorithm"] = row.algorithm.empty() ? Json(nullptr) : Json(row.algorithm);
  json["reason"] = row.reason.empty() ? Json(nullptr) : Json(row.reason);
  json["out_of_place"] = to_json(row.out_of_place);
  json["in_place"] = to_json(row.in_place);
  json["model_us"] = or_null(row.model_us);
  json["peer"] = nullptr;
  if (row.peer) {
    json["peer"] = {
        {"name", row.peer->name}, {"time_us", or_null(row.peer->time_us)}, {"ratio", or_null(row.peer->ratio)}};
  }
  return json;
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

std::string to_csv(const Timing& timing) {
  return fmt::format("{},{},{},{},{},{}", number(timing.time_us), number(timing.p50_us), number(timing.p99_us),
                     number(timing.algbw_gbs), number(timing.busbw_gbs),
                     timing.wrong ? fmt::format("{}", *timing.wrong) : "");
}

/// RFC 4180.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string to_json(const RunFacts& facts, const std::vector<Row>& rows) {
  Json document;
  document["schema"] = 1;
  document["umbel"] = {{"version", facts.version}, {"git", facts.git}};
  document["mpi"] = facts.mpi;
  document["ranks"] = facts.ranks;
  document["nodes"] = facts.nodes;
  for (const char* key : {"placement", "model"}) {  // what umbel_plan needs to predict these times
    document[key] =
        facts.description.empty() ? Json(nullptr) : Json::parse(facts.description).at("communicator").at(key);
  }
  document["collective"] = facts.collective;
  document["rows"] = Json::array();
  for (const Row& row : rows) document["rows"].push_back(to_json(row));
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_header() {
  std::string text = "size_bytes,count,dtype,op,root,algorithm";
  for (const char* placement : {"out_of_place", "in_place"}) {
    for (const char* column : {"time_us", "p50_us", "p99_us", "algbw_gbs", "busbw_gbs", "wrong"}) {
      text += fmt::format(",{}_{}", placement, column);
    }
  }
  return text + ",model_us,peer,peer_time_us,ratio,reason\n";
}

std::string to_csv(const Row& row) {
  const PeerTiming peer = row.peer.value_or(PeerTiming{});
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.size_bytes, row.count, row.dtype, row.op,
                     row.root ? fmt::format("{}", *row.root) : "", row.algorithm, to_csv(row.out_of_place),
                     to_csv(row.in_place), number(row.model_us), quoted(peer.name), number(peer.time_us),
                     number(peer.ratio), quoted(row.reason));
}

OutputFile::OutputFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "w")) {
  if (file_ == nullptr) throw std::system_error(errno, std::generic_category(), "cannot write " + path);
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot write " + path_);
  }
}

}  // namespace umbel::bench
