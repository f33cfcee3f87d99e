// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "placed.hpp"

namespace umbel::plan {
namespace {

using Json = nlohmann::ordered_json;

/// One measured call.
struct Measured {
  std::uint64_t count = 0, bytes = 0;
  std::string dtype, op, algorithm;
  Rank root = 0;
  double seconds = 0;
};

struct Compared {
  Measured measured;
  double simulated_s = 0, predicted_s = 0;
  std::string refused;
  double error() const { return simulated_s / measured.seconds - 1; }
};

/// Rows without an algorithm, of algorithms that could not run, or without a time are left out.
std::vector<Measured> rows_of(const nlohmann::json& document) {
  std::vector<Measured> rows;
  for (const nlohmann::json& row : document.at("rows")) {
    const nlohmann::json& timing =
        row.at("out_of_place").at("time_us").is_null() ? row.at("in_place") : row.at("out_of_place");
    if (row.at("algorithm").is_null() || timing.at("time_us").is_null()) continue;
    rows.push_back({.count = row.at("count").get<std::uint64_t>(),
                    .bytes = row.at("size_bytes").get<std::uint64_t>(),
                    .dtype = row.at("dtype").get<std::string>(),
                    .op = row.at("op").is_string() ? row.at("op").get<std::string>() : "sum",
                    .algorithm = row.at("algorithm").get<std::string>(),
                    .root = row.at("root").is_number_integer() ? std::max(0, row.at("root").get<int>()) : 0,
                    .seconds = timing.at("time_us").get<double>() * 1e-6});
  }
  return rows;
}

Compared simulate_row(CallOptions options, const Measured& row) {
  options.algorithm = row.algorithm;
  options.dtype = row.dtype;
  if (parse_redop(row.op)) options.op = row.op;
  options.root = row.root;
  Placed placed(options);
  Compared compared{.measured = row, .refused = {}};
  const runtime::Candidate candidate = placed.candidates(row.count).front();
  compared.refused = candidate.refused;
  if (!compared.refused.empty()) return compared;
  const auto outcome = placed.simulate(candidate, row.count);
  compared.refused = outcome.refused;
  compared.simulated_s = outcome.seconds;
  compared.predicted_s = candidate.predicted_s;
  return compared;
}

void print(const std::vector<Compared>& rows) {
  fmt::print("{:>10} {:<22} {:>13} {:>13} {:>9} {:>13}\n", "bytes", "algorithm", "measured us", "simulated us", "error",
             "model us");
  double sum = 0;
  std::size_t count = 0;
  for (const Compared& row : rows) {
    fmt::print("{:>10} {:<22} {:>13}", bytes_text(row.measured.bytes), row.measured.algorithm,
               us_text(row.measured.seconds));
    if (!row.refused.empty()) {
      fmt::print(" not possible: {}\n", row.refused);
      continue;
    }
    fmt::print(" {:>13} {:>+8.1f}% {:>13}\n", us_text(row.simulated_s), 100 * row.error(), us_text(row.predicted_s));
    sum += std::fabs(row.error());
    ++count;
  }
  if (count > 0) fmt::print("mean error {:.1f}% of {} rows\n", 100 * sum / static_cast<double>(count), count);
}

}  // namespace

int compare(const SimulateOptions& options) {
  CallOptions call = options.call;
  std::vector<Compared> rows;
  try {
    const nlohmann::json document = read_json(options.compare);
    if (call.ranks == 0) call.ranks = document.at("ranks").get<int>();
    call.collective = document.at("collective").get<std::string>();
    if (call.ranks != document.at("ranks").get<int>())
      throw InvalidArgument(fmt::format("{} was measured on {} ranks, not {}", options.compare,
                                        document.at("ranks").get<int>(), call.ranks));
    const int nodes = document.at("nodes").get<int>();
    if (call.nodes.empty() && nodes > 1) call.nodes = fmt::format("{}", nodes);
    for (const Measured& row : rows_of(document)) rows.push_back(simulate_row(call, row));
  } catch (const nlohmann::json::exception& error) {
    throw InvalidArgument(fmt::format("{} is not what a perf app writes: {}", options.compare, error.what()));
  }
  if (rows.empty()) throw InvalidArgument(fmt::format("{} has no times", options.compare));
  print(rows);
  if (!call.json.empty()) {
    Json document = Placed(call).to_json();
    document["rows"] = Json::array();
    for (const Compared& row : rows) {
      Json one{{"bytes", row.measured.bytes},
               {"algorithm", row.measured.algorithm},
               {"measured_us", row.measured.seconds * 1e6}};
      if (row.refused.empty()) {
        one["simulated_us"] = row.simulated_s * 1e6;
        one["predicted_us"] = row.predicted_s * 1e6;
        one["error"] = row.error();
      } else {
        one["refused"] = row.refused;
      }
      document["rows"].push_back(one);
    }
    write_json(call.json, document);
  }
  return kGood;
}

}  // namespace umbel::plan
