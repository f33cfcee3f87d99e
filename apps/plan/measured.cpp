// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "measured.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algos/figures.hpp"
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

/// The same call as it was expected to be.
struct Expected {
  double seconds = 0;
  std::string refused;  ///< why there is no time
};

struct Row {
  Measured measured;
  Expected predicted, simulated;
};

double error_of(const Row& row, const Expected& expected) { return expected.seconds / row.measured.seconds - 1; }

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

/// What the communicator had measured; nothing in a file that does not say.
std::optional<algos::Model> model_in(const nlohmann::json& document) {
  const auto found = document.find("model");
  if (found == document.end() || found->is_null()) return std::nullopt;
  algos::Model model;
  for (const auto& [name, figure] : algos::kModelFigures) {
    const bool later = name == "rails" || name == "net_post";  // than files that are about
    if (later && !found->contains(name)) continue;
    model.*figure = found->at(std::string(name)).get<double>();
  }
  return model;
}

/// Takes from the file what the command line leaves open. @throws InvalidArgument where the two contradict each other
void complete(CallOptions& call, const nlohmann::json& document, const std::string& path) {
  if (const int schema = document.at("schema").get<int>(); schema != 1)
    throw InvalidArgument(fmt::format("{} has schema {}, not 1", path, schema));
  const auto collective = document.at("collective").get<std::string>();
  if (!call.collective.empty() && collective_named(call.collective) != collective_named(collective))
    throw InvalidArgument(fmt::format("{} was measured of {}, not {}", path, collective, call.collective));
  if (const auto known = parse_collective(collective); known && plain(*known) != *known)
    throw InvalidArgument(
        fmt::format("{} was measured of {}, whose shares differ: only equal ones are simulated", path, collective));
  call.collective = collective;
  const int ranks = document.at("ranks").get<int>(), nodes = document.at("nodes").get<int>();
  if (call.ranks == 0) call.ranks = ranks;
  if (call.ranks != ranks)
    throw InvalidArgument(fmt::format("{} was measured on {} ranks, not {}", path, ranks, call.ranks));
  const auto placement = document.find("placement");
  const bool placed = placement != document.end() && placement->is_string();
  if (call.nodes.empty()) call.nodes = placed ? placement->get<std::string>() : fmt::format("{}", nodes);
  if (const int given = shape_of(ranks, call.nodes).nodes(); given != nodes)
    throw InvalidArgument(fmt::format("{} was measured on {} nodes, not {}", path, nodes, given));
}

Row expect_row(CallOptions options, const std::optional<algos::Model>& model, const Measured& measured) {
  options.algorithm = measured.algorithm;
  if (measured.dtype != "none") options.dtype = measured.dtype;  // a barrier has none
  if (parse_redop(measured.op)) options.op = measured.op;
  options.root = measured.root;
  Placed placed(options, model);
  const runtime::Candidate candidate = placed.candidates(measured.count).front();
  Row row{.measured = measured,
          .predicted = {.seconds = candidate.predicted_s, .refused = candidate.refused},
          .simulated = {.refused = candidate.refused}};
  if (!candidate.refused.empty()) return row;
  const auto outcome = placed.simulate(candidate, measured.count);
  row.simulated = {.seconds = outcome.seconds, .refused = outcome.refused};
  return row;
}

/// Of the rows that have such a time.
std::optional<double> median_error(const std::vector<Row>& rows, Expected Row::*which) {
  std::vector<double> errors;
  for (const Row& row : rows)
    if ((row.*which).refused.empty()) errors.push_back(std::fabs(error_of(row, row.*which)));
  if (errors.empty()) return std::nullopt;
  std::ranges::sort(errors);
  const std::size_t half = errors.size() / 2;
  return errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
}

std::string columns(const Row& row, const Expected& expected) {
  return expected.refused.empty()
             ? fmt::format(" {:>13} {:>+8.1f}%", us_text(expected.seconds), 100 * error_of(row, expected))
             : fmt::format(" {:>13} {:>9}", "-", "-");
}

std::string percent(const std::optional<double>& error) {
  return error ? fmt::format("{:.1f}%", 100 * *error) : "unknown";
}

void print(const std::vector<Row>& rows) {
  fmt::print("{:>10} {:<22} {:>13} {:>13} {:>9} {:>13} {:>9}\n", "bytes", "algorithm", "measured us", "predicted us",
             "error", "simulated us", "error");
  for (const Row& row : rows) {
    const std::string& refused = row.simulated.refused;
    fmt::print("{:>10} {:<22} {:>13}{}{}{}\n", bytes_text(row.measured.bytes), row.measured.algorithm,
               us_text(row.measured.seconds), columns(row, row.predicted), columns(row, row.simulated),
               refused.empty() ? "" : "  not possible: " + refused);
  }
  fmt::print("median absolute error of {} row{}: predicted {}, simulated {}\n", rows.size(),
             rows.size() == 1 ? "" : "s", percent(median_error(rows, &Row::predicted)),
             percent(median_error(rows, &Row::simulated)));
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const Row& row) {
  Json json{{"bytes", row.measured.bytes},
            {"algorithm", row.measured.algorithm},
            {"measured_us", row.measured.seconds * 1e6}};
  for (const auto& [name, expected] : {std::pair{"predicted", &row.predicted}, {"simulated", &row.simulated}}) {
    if (!expected->refused.empty()) continue;
    json[fmt::format("{}_us", name)] = expected->seconds * 1e6;
    json[fmt::format("{}_error", name)] = error_of(row, *expected);
  }
  if (!row.simulated.refused.empty()) json["refused"] = row.simulated.refused;
  return json;
}

void write(const CallOptions& call, const std::optional<algos::Model>& model, const std::vector<Row>& rows) {
  Json document = Placed(call, model).to_json();
  document["median_error"] = {{"predicted", or_null(median_error(rows, &Row::predicted))},
                              {"simulated", or_null(median_error(rows, &Row::simulated))}};
  document["rows"] = Json::array();
  for (const Row& row : rows) document["rows"].push_back(to_json(row));
  write_json(call.json, document);
}

}  // namespace

int beside_measured(const SimulateOptions& options) {
  const std::string& path = options.measured;
  CallOptions call = options.call;
  std::optional<algos::Model> model;
  std::vector<Row> rows;
  try {
    const nlohmann::json document = read_json(path);
    complete(call, document, path);
    if (call.cluster.empty()) model = model_in(document);
    if (model) call.direct = document.at("model").at("direct").get<bool>();
    for (const Measured& measured : rows_of(document)) rows.push_back(expect_row(call, model, measured));
  } catch (const nlohmann::json::exception& error) {
    throw InvalidArgument(fmt::format("{} is not what a perf app writes: {}", path, error.what()));
  }
  if (rows.empty()) throw InvalidArgument(fmt::format("{} has no times", path));
  fmt::print("{}, by the figures {}\n", Placed(call, model).text(),
             model                  ? "that were measured with them"
             : call.cluster.empty() ? "of a plain cluster: the file has none; --cluster takes others"
                                    : "of " + call.cluster);
  print(rows);
  if (!call.json.empty()) write(call, model, rows);
  return kGood;
}

}  // namespace umbel::plan
