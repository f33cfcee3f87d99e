// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// umbel_describe: what umbel_info prints, as one JSON object.
#include <fmt/format.h>
#include <hwloc.h>
#include <ucp/api/ucp.h>

#include <nlohmann/json.hpp>
#include <string>

#include "algos/figures.hpp"
#include "arguments.hpp"
#include "base/config.hpp"
#include "comm.hpp"
#include "last_error.hpp"
#include "runtime/placement.hpp"
#include "umbel/umbel.h"

namespace umbel::shim {
namespace {

using Json = nlohmann::ordered_json;

std::string hwloc_version() {
  const unsigned version = hwloc_get_api_version();
  return fmt::format("{}.{}.{}", version >> 16U, version >> 8U & 0xFFU, version & 0xFFU);
}

Json describe_build() {
  Json build;
  build["version"] = umbel_version();
  build["revision"] = umbel_revision();
#if defined(__clang__)
  build["compiler"] = "clang " __clang_version__;
#else
  build["compiler"] = "g++ " __VERSION__;
#endif
  build["ucx"] = ucp_get_version_string();
  build["hwloc"] = hwloc_version();
  return build;
}

Json describe_variables() {
  const Config defaults;
  const Config current = Config::from_environment();
  Json variables = Json::array();
  for (const Config::Variable& variable : Config::variables()) {
    variables.push_back({{"name", variable.name},
                         {"type", variable.type},
                         {"value", variable.get(current)},
                         {"default", variable.get(defaults)},
                         {"meaning", variable.meaning},
                         {"same_on_all_ranks", variable.agreed}});
  }
  return variables;
}

Json to_json(const std::vector<runtime::Fact>& facts) {
  Json list = Json::array();
  for (const runtime::Fact& fact : facts) {
    list.push_back({{"section", fact.section}, {"name", fact.name}, {"value", fact.value}});
  }
  return list;
}

/// What umbel_plan needs for the same predictions.
Json describe_model(const runtime::Communicator& communicator) {
  Json model{{"direct", communicator.direct()}};
  for (const auto& [name, figure] : algos::kModelFigures) model[std::string(name)] = communicator.model().*figure;
  return model;
}

Json describe_communicator(const runtime::Communicator& communicator) {
  const runtime::CommInfo& info = communicator.info();
  Json facts;
  facts["rank"] = info.rank;
  facts["ranks"] = info.ranks;
  facts["node"] = info.node;
  facts["nodes"] = info.nodes;
  facts["busbw_limit_gbs"] = info.busbw_limit_gbs;
  facts["placement"] = runtime::placement_text(communicator.shape());
  facts["model"] = describe_model(communicator);
  facts["facts"] = to_json(communicator.facts());
  return facts;
}

}  // namespace
}  // namespace umbel::shim

extern "C" umbel_result_t umbel_describe(umbel_comm_t comm, const char** json) {
  using namespace umbel::shim;
  return guarded([&] {
    checked_call("umbel_describe", comm, [&] { require(json, "json"); });
    thread_local std::string text;
    Json description;
    description["build"] = describe_build();
    description["variables"] = describe_variables();
    description["host"] = to_json(umbel::runtime::host_facts());
    if (comm != nullptr) {
      description["communicator"] = describe_communicator(*comm->communicator);
    }
    // names of hosts and devices come from outside: bytes that are no UTF-8 are replaced, not thrown about
    text = description.dump(2, ' ', false, Json::error_handler_t::replace);
    *json = text.c_str();
  });
}
