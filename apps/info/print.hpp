// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace umbel::info {

/// What one rank says of itself: umbel_describe's object, with "hostname" and "pid".
using Description = nlohmann::ordered_json;

/// Everything for people. What all ranks say alike is said once; what differs is said per rank.
std::string to_text(const std::vector<Description>& ranks, const std::string& mpi_version);

}  // namespace umbel::info
