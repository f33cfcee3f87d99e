// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace umbel::bench {
namespace {

using ::testing::HasSubstr;

TEST(Report, WhatIsMissingIsNull) {
  Row row;
  row.dtype = "fp32";
  row.op = "sum";
  row.algorithm = "one_shot";
  row.reason = "needs all ranks on one node, \"really\"";
  const auto json = nlohmann::json::parse(to_json(RunFacts{.collective = "all_reduce", .ranks = 2, .nodes = 2}, {row}));
  EXPECT_EQ(json["schema"], 1);
  const auto& parsed = json["rows"][0];
  EXPECT_TRUE(parsed["root"].is_null());
  EXPECT_TRUE(parsed["peer"].is_null());
  EXPECT_TRUE(parsed["model_us"].is_null());
  EXPECT_EQ(parsed["reason"], row.reason);
  for (const auto& [key, value] : parsed["out_of_place"].items()) EXPECT_TRUE(value.is_null()) << key;
  EXPECT_EQ(parsed["out_of_place"].size(), 6U);
  EXPECT_THAT(to_csv(row), HasSubstr("\"needs all ranks on one node, \"\"really\"\"\""));
}

TEST(Report, CsvHasAValuePerColumn) {
  const std::string header = csv_header();
  const std::string line = to_csv(Row{});
  EXPECT_EQ(std::ranges::count(header, ','), std::ranges::count(line, ','));
}

TEST(Report, TotalsCountPlacements) {
  Row row;
  row.out_of_place = {.time_us = 1, .p50_us = 1, .p99_us = 1, .algbw_gbs = 1, .busbw_gbs = 2, .wrong = 3};
  row.in_place = {.time_us = 1, .p50_us = 1, .p99_us = 1, .algbw_gbs = 1, .busbw_gbs = 4, .wrong = std::nullopt};
  Totals totals;
  totals.add(row);
  totals.add(Row{});
  EXPECT_EQ(totals.wrong(), 3U);
  EXPECT_EQ(totals.checked(), 1U);
  EXPECT_EQ(totals.mean_busbw(), 3.0);
  EXPECT_EQ(Totals().mean_busbw(), std::nullopt);
}

TEST(Report, AFileThatCannotBeWrittenIsNamed) {
  try {
    OutputFile file("/no/such/folder/file");
    FAIL() << "no exception";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/folder/file"));
  }
}

}  // namespace
}  // namespace umbel::bench
