// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "placed.hpp"
#include "plan.hpp"
#include "tuned.hpp"

namespace umbel::plan {
namespace {

using Json = nlohmann::ordered_json;

struct Line {
  runtime::Candidate candidate;
  algos::simulate::Outcome outcome;
  bool served() const { return candidate.refused.empty(); }
  bool simulated() const { return served() && outcome.refused.empty(); }
};

/// How the data is cut, as far as the program cuts it.
std::string cut_text(const Placed& placed, const runtime::Candidate& candidate) {
  const Program program = candidate.algorithm->build(0, placed.shape(), candidate.spec);
  std::string text = candidate.spec.direct ? "direct" : "staged";
  if (program.uses_pieces) text += fmt::format(", pieces of {}", bytes_text(candidate.cut.piece_bytes));
  if (program.uses_chunks) text += fmt::format(", chunks of {}", bytes_text(candidate.cut.chunk_bytes));
  if (candidate.spec.channels > 1) text += fmt::format(", {} channels", candidate.spec.channels);
  return text + fmt::format(", {} slots a stream", candidate.spec.depth);
}

void print(const Placed& placed, const std::vector<Line>& lines) {
  fmt::print("{:<24} {:>13} {:>13}  {}\n", "algorithm", "predicted us", "simulated us", "how");
  for (const Line& line : lines) {
    const runtime::Candidate& candidate = line.candidate;
    const bool chosen = &line == lines.data() && line.served();
    fmt::print("{} {:<22}", chosen ? '>' : ' ', candidate.algorithm->name);
    if (!line.served()) {
      fmt::print(" {:>13} {:>13}  not possible: {}\n", "-", "-", candidate.refused);
      continue;
    }
    fmt::print(" {:>13} {:>13}  {}{}\n", us_text(candidate.predicted_s),
               line.simulated() ? us_text(line.outcome.seconds) : "-", cut_text(placed, candidate),
               line.simulated() ? "" : "; not simulated: " + line.outcome.refused);
  }
}

/// What the choice rests on.
std::string why(const std::vector<Line>& lines) {
  const Line& chosen = lines.front();
  std::string text = fmt::format("{}: ", chosen.candidate.algorithm->name);
  const Line* rival = nullptr;  // the best of the others for this very call
  for (const Line& line : lines)
    if (&line != &chosen && line.served() &&
        (rival == nullptr || line.candidate.predicted_s < rival->candidate.predicted_s))
      rival = &line;
  if (rival != nullptr && chosen.candidate.predicted_s < rival->candidate.predicted_s)
    text += fmt::format("the least predicted time, {:.0f}% below {}",
                        100 * (1 - chosen.candidate.predicted_s / rival->candidate.predicted_s),
                        rival->candidate.algorithm->name);
  else if (rival != nullptr)
    text += fmt::format(
        "predicted {:.1f}% above {}, but of calls of about this size within what costs can tell, and before it in the "
        "catalog",
        100 * (chosen.candidate.predicted_s / rival->candidate.predicted_s - 1), rival->candidate.algorithm->name);
  else
    text += "the only one that is possible";
  if (chosen.simulated())
    text += fmt::format("; simulated, the busiest thread works {} us and the busiest link {} us of it",
                        us_text(chosen.outcome.busiest_thread_s), us_text(chosen.outcome.busiest_link_s));
  const Line* fastest = &chosen;
  for (const Line& line : lines)
    if (line.simulated() && chosen.simulated() && line.outcome.seconds < fastest->outcome.seconds) fastest = &line;
  if (fastest != &chosen)
    text += fmt::format("\nthe simulator would take {}, {:.0f}% faster", fastest->candidate.algorithm->name,
                        100 * (1 - fastest->outcome.seconds / chosen.outcome.seconds));
  return text;
}

/// What the planner would have taken without the tuning.
runtime::Candidate choice_at_start(const CallOptions& call, const runtime::TuningEntry& tuning, std::uint64_t count) {
  return Placed(as_tuned(call, tuning), tuning.at_start).candidates(count).front();
}

std::string text_of(const runtime::Candidate& chosen) {
  return chosen.refused.empty()
             ? fmt::format("{}, predicted {} us", chosen.algorithm->name, us_text(chosen.predicted_s))
             : "no algorithm is possible";
}

Json to_json(const Line& line) {
  const runtime::Candidate& candidate = line.candidate;
  Json json{{"name", candidate.algorithm->name}};
  if (!line.served()) {
    json["refused"] = candidate.refused;
    return json;
  }
  json["predicted_us"] = candidate.predicted_s * 1e6;
  json["simulated_us"] = line.simulated() ? Json(line.outcome.seconds * 1e6) : Json(nullptr);
  json["direct"] = candidate.spec.direct;
  json["channels"] = candidate.spec.channels;
  json["depth"] = candidate.spec.depth;
  json["chunk_bytes"] = candidate.cut.chunk_bytes;
  json["piece_bytes"] = candidate.cut.piece_bytes;
  return json;
}

}  // namespace

int explain(const ExplainOptions& options) {
  const std::optional<runtime::TuningEntry> tuning = tuning_of(options.call);
  Placed placed = placed_by(options.call, tuning);
  const bool barrier = placed.collective() == Collective::barrier;
  if (!barrier && options.bytes.empty()) throw InvalidArgument("--bytes is required");
  const std::vector<std::uint64_t> sizes = barrier ? std::vector<std::uint64_t>{0} : sizes_of(options.bytes);
  if (sizes.size() != 1) throw InvalidArgument("--bytes is one size");
  const std::uint64_t count = placed.count_of(sizes.front());
  std::vector<Line> lines;
  for (const runtime::Candidate& candidate : placed.candidates(count)) {
    Line& line = lines.emplace_back(Line{.candidate = candidate, .outcome = {}});
    if (line.served()) line.outcome = placed.simulate(candidate, count);
  }
  fmt::print("{}{}\n", placed.text(), barrier ? "" : fmt::format(", {} bytes", sizes.front()));
  print(placed, lines);
  const bool possible = !lines.empty() && lines.front().served();
  fmt::print("{}\n", possible ? why(lines) : "no algorithm is possible");
  std::optional<runtime::Candidate> untuned;
  if (tuning) {
    untuned = choice_at_start(options.call, *tuning, count);
    fmt::print("figures {}\n{}with those at start: {}\n", text_of(*tuning, options.call), figures_text(*tuning),
               text_of(*untuned));
  }
  if (!options.call.json.empty()) {
    Json document = placed.to_json();
    document["bytes"] = sizes.front();
    document["chosen"] = possible ? Json(lines.front().candidate.algorithm->name) : Json(nullptr);
    if (tuning) {
      document["tuning"] = to_json(*tuning, options.call);
      if (untuned->refused.empty())
        document["tuning"]["chosen_at_start"] = {{"name", untuned->algorithm->name},
                                                 {"predicted_us", untuned->predicted_s * 1e6}};
    }
    document["candidates"] = Json::array();
    for (const Line& line : lines) document["candidates"].push_back(to_json(line));
    write_json(options.call.json, document);
  }
  return possible ? kGood : kNotProved;
}

}  // namespace umbel::plan
