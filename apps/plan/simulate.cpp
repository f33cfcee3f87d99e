// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "measured.hpp"
#include "placed.hpp"
#include "plan.hpp"
#include "tuned.hpp"

namespace umbel::plan {
namespace {

using Json = nlohmann::ordered_json;

/// One algorithm at one size.
struct Cell {
  runtime::Candidate candidate;
  algos::simulate::Outcome outcome;
  std::string refused() const { return candidate.refused.empty() ? outcome.refused : candidate.refused; }
};

/// One size: all algorithms, in the catalog's order, and which is fastest.
struct Row {
  std::uint64_t bytes = 0;
  std::vector<Cell> cells;
  const Cell* fastest() const {
    const Cell* best = nullptr;
    for (const Cell& cell : cells)
      if (cell.refused().empty() && (best == nullptr || cell.outcome.seconds < best->outcome.seconds)) best = &cell;
    return best;
  }
};

Row simulate_size(Placed& placed, std::uint64_t bytes) {
  const std::uint64_t count = placed.count_of(bytes);
  Row row{.bytes = bytes, .cells = {}};
  for (const runtime::Candidate& candidate : placed.candidates(count)) {
    Cell cell{.candidate = candidate, .outcome = {}};
    if (candidate.refused.empty()) cell.outcome = placed.simulate(candidate, count);
    row.cells.push_back(std::move(cell));
  }
  std::ranges::sort(row.cells, {}, [](const Cell& cell) { return cell.candidate.algorithm; });
  return row;
}

/// Algorithms down, sizes across; why some are missing below.
void print(const std::vector<Row>& rows) {
  fmt::print("{:<22}", "microseconds");
  for (const Row& row : rows) fmt::print(" {:>9}", bytes_text(row.bytes));
  fmt::print("\n");
  std::vector<std::string> notes;
  for (std::size_t k = 0; k < rows.front().cells.size(); ++k) {
    const std::string_view name = rows.front().cells[k].candidate.algorithm->name;
    std::string line, reason;
    bool any = false;
    for (const Row& row : rows) {
      const Cell& cell = row.cells[k];
      const bool served = cell.refused().empty();
      any |= served;
      if (!served) reason = cell.refused();
      line += fmt::format(" {:>8}{}", served ? us_text(cell.outcome.seconds) : "-", &cell == row.fastest() ? "*" : " ");
    }
    if (any) fmt::print("{:<22}{}\n", name, line);
    if (!reason.empty()) notes.push_back(fmt::format("{}: {}", name, reason));
  }
  fmt::print("* fastest");
  for (const Row& row : rows) {
    const Cell* best = row.fastest();
    fmt::print("; {} {}", bytes_text(row.bytes), best == nullptr ? "none" : best->candidate.algorithm->name);
  }
  fmt::print("\n");
  for (const std::string& note : notes) fmt::print("not possible: {}\n", note);
}

Json to_json(const Row& row) {
  Json json{{"bytes", row.bytes}, {"fastest", nullptr}, {"algorithms", Json::array()}};
  if (row.fastest() != nullptr) json["fastest"] = row.fastest()->candidate.algorithm->name;
  for (const Cell& cell : row.cells) {
    const auto& [candidate, outcome] = cell;
    Json one{{"name", candidate.algorithm->name}};
    if (!cell.refused().empty()) {
      one["refused"] = cell.refused();
    } else {
      one["simulated_us"] = outcome.seconds * 1e6;
      one["predicted_us"] = candidate.predicted_s * 1e6;
      one["busiest_thread_us"] = outcome.busiest_thread_s * 1e6;
      one["busiest_link_us"] = outcome.busiest_link_s * 1e6;
      one["messages"] = outcome.messages;
      one["direct"] = candidate.spec.direct;
      one["chunk_bytes"] = candidate.cut.chunk_bytes;
      one["piece_bytes"] = candidate.cut.piece_bytes;
    }
    json["algorithms"].push_back(one);
  }
  return json;
}

}  // namespace

int simulate(const SimulateOptions& options) {
  if (!options.measured.empty()) return beside_measured(options);
  const std::optional<runtime::TuningEntry> tuning = tuning_of(options.call);
  Placed placed = placed_by(options.call, tuning);
  std::vector<std::uint64_t> sizes = sizes_of(options.sizes.empty() ? "8:64M:x4" : options.sizes);
  if (placed.collective() == Collective::barrier) sizes = {0};
  std::vector<Row> rows;
  for (const std::uint64_t bytes : sizes) rows.push_back(simulate_size(placed, bytes));
  fmt::print("{}, {}\n", placed.text(),
             ranked(placed.collective()) ? "by the bytes of one rank's share" : "by the bytes of a buffer");
  print(rows);
  if (tuning) fmt::print("figures {}\n", text_of(*tuning, options.call));
  if (!options.call.json.empty()) {
    Json document = placed.to_json();
    if (tuning) document["tuning"] = to_json(*tuning, options.call);
    document["rows"] = Json::array();
    for (const Row& row : rows) document["rows"].push_back(to_json(row));
    write_json(options.call.json, document);
  }
  const bool any = std::ranges::any_of(rows, [](const Row& row) { return row.fastest() != nullptr; });
  return any ? kGood : kNotProved;
}

}  // namespace umbel::plan
