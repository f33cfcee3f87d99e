// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <fmt/format.h>

#include "base/config.hpp"

namespace umbel {
namespace {

constexpr std::string_view kIntroduction = R"(# Configuration

<!-- Generated from the table in src/base/config.cpp. Change that, then: cmake --build --preset dev --target update_docs -->

Environment variables set what a program does not set itself; what a program sets through `umbel_config_t` comes first.
With Open MPI pass them to every rank by `mpirun -x NAME=value`. `umbel_info` prints the values in use.

- An empty value counts as unset.
- A value that does not fit is an error that names the variable.
- A variable that starts with `UMBEL_` and is not listed here gets one warning with the nearest name that is, but for
  `UMBEL_CLUSTER_…`, which scripts/cluster reads.
- *Bytes* are whole numbers, with K, M or G for 1024, 1024² and 1024³, in either case.
- Variables marked *agreed* must have the same value on all ranks; ranks compare them when a communicator is made, and the
  error names the variable, the values and the ranks.

| variable | value | default | agreed | meaning |
| --- | --- | --- | --- | --- |
)";

}  // namespace

std::string configuration_markdown() {
  std::string page(kIntroduction);
  const Config defaults;
  for (const Config::Variable& variable : Config::variables()) {
    const std::string value = variable.get(defaults);
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", variable.name, variable.type,
                        value.empty() ? "unset" : "`" + value + "`", variable.agreed ? "agreed" : "", variable.meaning);
  }
  return page;
}

}  // namespace umbel
