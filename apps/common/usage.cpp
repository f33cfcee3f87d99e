// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <vector>

namespace umbel::apps {
namespace {

std::string unexpected(const CLI::App& app, const std::vector<std::string>& extra) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  if (!commands.empty() && app.get_subcommands().empty() && !extra.front().starts_with('-'))
    return fmt::format("{}: no such subcommand; there are {}\n", extra.front(), fmt::join(commands, ", "));
  return fmt::format("not expected: {}\n", fmt::join(extra, " "));
}

}  // namespace

UsageText usage_text(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  const bool wrong = app.exit(error, out, out) != 0;
  const std::vector<std::string> extra = app.remaining(true);
  if (!wrong || extra.empty()) return {out.str(), wrong};
  return {unexpected(app, extra) + "Run with --help for more information.\n", true};
}

}  // namespace umbel::apps
