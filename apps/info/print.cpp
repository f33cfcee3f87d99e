// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace umbel::info {
namespace {

std::string text_of(const Description& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// "0-3,5".
std::string rank_list(const std::vector<std::size_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

/// The facts of all ranks, in order of first appearance, with who said each value.
struct Line {
  std::string section;
  std::string name;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> values;
};

void add_fact(std::vector<Line>& lines, const Description& fact, std::size_t rank) {
  const std::string section = text_of(fact["section"]);
  const std::string name = text_of(fact["name"]);
  const std::string value = text_of(fact["value"]);
  auto line = std::ranges::find_if(lines, [&](const Line& l) { return l.section == section && l.name == name; });
  if (line == lines.end()) {
    // next to its section, which another rank may have begun
    const auto last = std::find_if(lines.rbegin(), lines.rend(), [&](const Line& l) { return l.section == section; });
    line = lines.insert(last.base() == lines.begin() ? lines.end() : last.base(), Line{section, name, {}});
  }
  auto known = std::ranges::find_if(line->values, [&](const auto& entry) { return entry.first == value; });
  if (known == line->values.end()) known = line->values.insert(known, {value, {}});
  if (known->second.empty() || known->second.back() != rank) known->second.push_back(rank);
}

std::string facts_text(const std::vector<Description>& ranks) {
  std::vector<Line> lines;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Description& fact : ranks[rank]["host"]) add_fact(lines, fact, rank);
    for (const Description& fact : ranks[rank]["communicator"]["facts"]) add_fact(lines, fact, rank);
  }
  std::string text;
  std::string section;
  for (const Line& line : lines) {
    if (line.section != section) {
      section = line.section;
      text += fmt::format("\n{}\n", section);
    }
    for (const auto& [value, who] : line.values) {
      const std::string whose = who.size() == ranks.size() ? "" : fmt::format("  [rank {}]", rank_list(who));
      text += fmt::format("  {:<26} {}{}\n", line.name, value, whose);
    }
  }
  return text;
}

std::string rank_text(const std::vector<Description>& ranks) {
  const Description& first = ranks.front()["communicator"];
  std::string text = fmt::format("\nranks\n  {} ranks on {} nodes\n", text_of(first["ranks"]), text_of(first["nodes"]));
  for (const Description& rank : ranks) {
    const Description& communicator = rank["communicator"];
    text += fmt::format("  rank {:>4}  node {:>4}  {} (pid {})\n", text_of(communicator["rank"]),
                        text_of(communicator["node"]), text_of(rank["hostname"]), text_of(rank["pid"]));
  }
  return text;
}

/// Breaks at spaces, each line indented.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::string line(indent, ' ');
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t end = std::min(text.find(' ', position), text.size());
    const std::string word = text.substr(position, end - position);
    if (line.size() > indent && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += word;
    position = end + 1;
  }
  return out + line + "\n";
}

std::string variables_text(const Description& variables) {
  constexpr std::size_t kIndent = 6;
  constexpr std::size_t kWidth = 110;
  const auto shown = [](const Description& value) { return text_of(value).empty() ? "(unset)" : text_of(value); };
  std::string text = "\nconfiguration variables (name = value, default)\n";
  for (const Description& variable : variables) {
    text += fmt::format("  {} = {}   default {}; {}\n", text_of(variable["name"]), shown(variable["value"]),
                        shown(variable["default"]), text_of(variable["type"]));
    text += wrapped(text_of(variable["meaning"]), kIndent, kWidth);
  }
  return text;
}

}  // namespace

std::string to_text(const std::vector<Description>& ranks, const std::string& mpi_version) {
  const Description& build = ranks.front()["build"];
  std::string text = "build\n";
  for (const auto& [name, value] : build.items()) text += fmt::format("  {:<26} {}\n", name, text_of(value));
  text += fmt::format("  {:<26} {} (of this program; the library links none)\n", "mpi", mpi_version);
  return text + rank_text(ranks) + facts_text(ranks) + variables_text(ranks.front()["variables"]);
}

}  // namespace umbel::info
