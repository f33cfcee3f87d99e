// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/config.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace umbel {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// An environment that lives as long as this object.
class Environment {
 public:
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {
    for (const std::string& entry : entries_) pointers_.push_back(entry.c_str());
    pointers_.push_back(nullptr);
  }
  const char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> entries_;
  std::vector<const char*> pointers_;
};

Config config_of(std::vector<std::string> entries) {
  return Config::from_environment(Environment(std::move(entries)).get());
}

std::string message_of(const std::string& entry) {
  try {
    static_cast<void>(config_of({entry}));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

std::string value_of(const Config& config, std::string_view name) {
  for (const auto& [variable, value] : config.values())
    if (variable == name) return value;
  return "no such variable";
}

/// A value other than the default for every variable.
const std::vector<std::pair<std::string, std::string>> kOtherValues{
    {"UMBEL_ALGORITHM", "ring"},    {"UMBEL_REPRODUCIBLE", "1"},    {"UMBEL_NODES", "0/0,0/1"},
    {"UMBEL_TIMEOUT_S", "2.5"},     {"UMBEL_DEBUG", "trace"},       {"UMBEL_DEBUG_SUBSYS", "^exec,^wait"},
    {"UMBEL_NET_DEVICES", "^lo,a"}, {"UMBEL_CMA", "off"},           {"UMBEL_WINDOW_BYTES", "1G"},
    {"UMBEL_PIECE_BYTES", "3M"},    {"UMBEL_CHUNK_BYTES", "5000"},  {"UMBEL_CHANNELS", "4"},
    {"UMBEL_WAIT", "sleep"},        {"UMBEL_PROGRESS_THREAD", "1"}, {"UMBEL_REGISTERED", "1"},
    {"UMBEL_TUNING", "my file"}};

TEST(Config, WithoutVariablesEverythingIsDefault) {
  EXPECT_EQ(config_of({}).values(), Config{}.values());
  EXPECT_EQ(Config::from_environment(nullptr).values(), Config{}.values());
  EXPECT_EQ(config_of({"HOME=/", "UMBEL=1", "XUMBEL_WAIT=spin", "UMBEL_WAIT"}).values(), Config{}.values());
}

TEST(Config, EmptyValuesCountAsUnset) {
  for (const auto& variable : Config::variables())
    EXPECT_EQ(config_of({std::string(variable.name) + "="}).values(), Config{}.values()) << variable.name;
}

TEST(Config, EveryVariableIsReadAndWrittenBackAlone) {
  ASSERT_EQ(kOtherValues.size(), Config::variables().size()) << "a variable without a test";
  for (const auto& [name, value] : kOtherValues) {
    const Config config = config_of({name + "=" + value});
    for (const auto& [other, text] : config.values())
      EXPECT_EQ(text, other == name ? value : value_of(Config{}, other)) << "with " << name << ", looking at " << other;
  }
}

TEST(Config, DefaultsReadBackAsThemselves) {
  for (const auto& variable : Config::variables()) {
    const std::string value = variable.get(Config{});
    EXPECT_EQ(config_of({std::string(variable.name) + "=" + value}).values(), Config{}.values()) << variable.name;
  }
}

TEST(Config, MembersHoldWhatTheVariablesSay) {
  const Config config =
      config_of({"UMBEL_TIMEOUT_S=0.25", "UMBEL_DEBUG=INFO", "UMBEL_CMA=on", "UMBEL_WAIT=Yield",
                 "UMBEL_WINDOW_BYTES=2g", "UMBEL_REPRODUCIBLE=1", "UMBEL_CHANNELS=3", "UMBEL_TUNING=Off"});
  EXPECT_EQ(config.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(config.debug, LogLevel::info);
  EXPECT_EQ(config.cma, CmaMode::on);
  EXPECT_EQ(config.wait, WaitMode::yield);
  EXPECT_EQ(config.window_bytes, 2ULL << 30U);
  EXPECT_TRUE(config.reproducible);
  EXPECT_EQ(config.channels, 3);
  EXPECT_EQ(config.tuning, "off");
}

TEST(Config, BadValuesAreErrorsThatNameVariableAndValue) {
  const std::vector<std::string> bad{"UMBEL_TIMEOUT_S=0",
                                     "UMBEL_TIMEOUT_S=-1",
                                     "UMBEL_TIMEOUT_S=soon",
                                     "UMBEL_TIMEOUT_S=1s",
                                     "UMBEL_TIMEOUT_S=inf",
                                     "UMBEL_TIMEOUT_S=nan",
                                     "UMBEL_TIMEOUT_S=1e300",
                                     "UMBEL_DEBUG=verbose",
                                     "UMBEL_DEBUG=3",
                                     "UMBEL_DEBUG_SUBSYS=nte",
                                     "UMBEL_DEBUG_SUBSYS=net,",
                                     "UMBEL_DEBUG_SUBSYS=^",
                                     "UMBEL_NET_DEVICES=a,,b",
                                     "UMBEL_NET_DEVICES=a,^b",
                                     "UMBEL_NET_DEVICES=^",
                                     "UMBEL_CMA=yes",
                                     "UMBEL_CMA=1",
                                     "UMBEL_WINDOW_BYTES=0",
                                     "UMBEL_WINDOW_BYTES=1M",
                                     "UMBEL_WINDOW_BYTES=16MB",
                                     "UMBEL_CHUNK_BYTES=-1",
                                     "UMBEL_CHUNK_BYTES=1",
                                     "UMBEL_PIECE_BYTES=4095",
                                     "UMBEL_CHUNK_BYTES=1.5M",
                                     "UMBEL_PIECE_BYTES=K",
                                     "UMBEL_PIECE_BYTES=99999999999G",
                                     "UMBEL_WAIT=busy",
                                     "UMBEL_CHANNELS=-1",
                                     "UMBEL_CHANNELS=5",
                                     "UMBEL_CHANNELS=two",
                                     "UMBEL_REPRODUCIBLE=yes",
                                     "UMBEL_REPRODUCIBLE=2",
                                     "UMBEL_CHUNK_BYTES= 64K",
                                     "UMBEL_CHANNELS=4 "};
  for (const std::string& entry : bad) EXPECT_THAT(message_of(entry), HasSubstr(entry + ": ")) << entry;
}

TEST(Config, UnknownVariablesGetTheNearestName) {
  const Environment environment({"UMBEL_ALGORITM=ring", "UMBEL_WAIT=spin", "UMBEL_TIMEOUT=3", "PATH=/bin",
                                 "UMBEL_CLUSTER_NAME=a", "UMBEL_nodes=2"});
  const auto messages = unknown_variables(environment.get());
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0], "UMBEL_ALGORITM is no variable of Umbel's; the nearest is UMBEL_ALGORITHM");
  EXPECT_THAT(messages[1], HasSubstr("the nearest is UMBEL_TIMEOUT_S"));
  EXPECT_THAT(messages[2], HasSubstr("UMBEL_nodes is no variable"));
  for (const auto& variable : Config::variables())
    EXPECT_THAT(unknown_variables(Environment({std::string(variable.name) + "=x"}).get()), IsEmpty());
}

TEST(Config, TheHashTellsAgreedVariablesApartAndNoOthers) {
  std::set<std::uint64_t> hashes{Config{}.agreed_hash()};
  std::size_t agreed = 0;
  for (const auto& [name, value] : kOtherValues) {
    const auto& variable = *std::ranges::find(Config::variables(), std::string_view(name), &Config::Variable::name);
    hashes.insert(config_of({name + "=" + value}).agreed_hash());
    agreed += variable.agreed ? 1U : 0U;
  }
  EXPECT_EQ(hashes.size(), agreed + 1);
  EXPECT_EQ(config_of({"UMBEL_CHUNK_BYTES=64K"}).agreed_hash(), config_of({"UMBEL_CHUNK_BYTES=65536"}).agreed_hash());
}

TEST(Config, DifferencesNameVariableValuesAndRanks) {
  const std::string usual = Config{}.agreed_text();
  const std::string ring = config_of({"UMBEL_ALGORITHM=ring"}).agreed_text();
  const std::string both = config_of({"UMBEL_ALGORITHM=ring", "UMBEL_NODES=2"}).agreed_text();
  EXPECT_EQ(explain_difference(std::vector{usual, usual, usual}), "");
  EXPECT_EQ(explain_difference(std::vector{usual, usual, ring}),
            "UMBEL_ALGORITHM is auto on the other ranks, ring on rank 2");
  EXPECT_EQ(explain_difference(std::vector{ring, usual}), "UMBEL_ALGORITHM is auto on rank 1, ring on rank 0");
  EXPECT_EQ(explain_difference(std::vector{usual, both, usual, both, usual}),
            "UMBEL_ALGORITHM is auto on the other ranks, ring on ranks 1, 3; "
            "UMBEL_NODES is (unset) on the other ranks, 2 on ranks 1, 3");
}

TEST(Config, DeviceFilterTakesExactNames) {
  EXPECT_TRUE(DeviceFilter{}.admits("eth0"));
  const auto only = DeviceFilter::parse("eth0,mlx5_0:1");
  EXPECT_TRUE(only.admits("mlx5_0:1"));
  EXPECT_FALSE(only.admits("eth01"));
  EXPECT_FALSE(only.admits("eth"));
  const auto all_but = DeviceFilter::parse("^lo,docker0");
  EXPECT_FALSE(all_but.admits("lo"));
  EXPECT_FALSE(all_but.admits("docker0"));
  EXPECT_TRUE(all_but.admits("lo0"));
}

TEST(Config, BytesRoundTrip) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("12345"), 12345U);
  EXPECT_EQ(parse_bytes("8k"), 8192U);
  EXPECT_EQ(parse_bytes("3M"), 3U << 20U);
  EXPECT_EQ(parse_bytes("5G"), 5ULL << 30U);
  for (const std::uint64_t bytes : {0ULL, 1ULL, 1023ULL, 1024ULL, 1536ULL, 1048576ULL, 5ULL << 30U, 1ULL << 45U})
    EXPECT_EQ(parse_bytes(bytes_to_text(bytes)), bytes);
  EXPECT_THROW(parse_bytes("8589934592G"), InvalidArgument);
  EXPECT_EQ(parse_bytes("8589934591G"), 8589934591ULL << 30U);
}

TEST(Config, ThePageInTheDocsIsTheTable) {
  const std::string path = std::string(UMBEL_SOURCE_DIR) + "/docs/configuration.md";
  std::ifstream file(path);
  ASSERT_TRUE(file.is_open()) << path;
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), configuration_markdown()) << "cmake --build --preset dev --target update_docs writes it anew";
  for (const auto& variable : Config::variables()) EXPECT_THAT(page.str(), HasSubstr(std::string(variable.name)));
}

TEST(Config, MeaningsFitATableCell) {
  for (const auto& variable : Config::variables()) {
    EXPECT_THAT(std::string(variable.meaning), Not(HasSubstr("|"))) << variable.name;
    EXPECT_THAT(std::string(variable.meaning), Not(HasSubstr("\n"))) << variable.name;
    EXPECT_FALSE(variable.meaning.empty()) << variable.name;
  }
}

}  // namespace
}  // namespace umbel
