// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace umbel::apps {

/// What to print for an error of parse(), which --help and --version are too.
struct UsageText {
  std::string text;
  bool wrong = false;  ///< the command line is; else the text was asked for
};

/// CLI11's text, except for arguments that nothing takes: these come in the order in which they were typed, and one
/// in the place of a subcommand with the names there are.
UsageText usage_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace umbel::apps
