// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "base/log.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace umbel {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Log : public ::testing::Test {
 protected:
  void TearDown() override {
    configure_log(LogLevel::warn, SubsystemSet::all());
    set_log_rank(-1);
  }
};

template <class Speak>
std::string said_by(Speak&& speak) {
  ::testing::internal::CaptureStderr();
  speak();
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(Log, WarningsAreOnAndMoreIsOffBeforeAnythingIsConfigured) {
  EXPECT_THAT(said_by([] { log_warn(Subsystem::net, "first"); }), HasSubstr("first"));
  EXPECT_EQ(said_by([] { log_info(Subsystem::net, "second"); }), "");
}

TEST_F(Log, ALineNamesTimeHostRankLevelAndSubsystem) {
  set_log_rank(3);
  const std::string line = said_by([] { log_error(Subsystem::window, "{} of {}", 1, "two"); });
  EXPECT_THAT(line, MatchesRegex("[0-9:.]+ umbel [^ ]+ rank 3 error window: 1 of two\n"));
  set_log_rank(-1);
  EXPECT_THAT(said_by([] { log_warn(Subsystem::init, "x"); }),
              MatchesRegex("[0-9:.]+ umbel [^ ]+ pid [0-9]+ warn init: x\n"));
}

TEST_F(Log, BracesInAMessageStayAsTheyAre) {
  EXPECT_THAT(said_by([] { log_warn(Subsystem::init, "{}", "{0} %s {"); }), HasSubstr("{0} %s {"));
}

TEST_F(Log, EachLevelIncludesThoseBeforeIt) {
  constexpr LogLevel kSpoken[] = {LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug, LogLevel::trace};
  for (int level = 0; level <= static_cast<int>(LogLevel::trace); ++level) {
    configure_log(static_cast<LogLevel>(level), SubsystemSet::all());
    for (LogLevel spoken : kSpoken) {
      const std::string line = said_by([spoken] { log(Subsystem::exec, spoken, "here"); });
      EXPECT_EQ(!line.empty(), static_cast<int>(spoken) <= level) << name_of(spoken) << " at level " << level;
    }
  }
}

TEST_F(Log, SubsystemsChooseWhoSaysMoreThanWarnings) {
  configure_log(LogLevel::trace, SubsystemSet::parse("net"));
  EXPECT_TRUE(log_enabled(Subsystem::net, LogLevel::trace));
  EXPECT_FALSE(log_enabled(Subsystem::plan, LogLevel::info));
  EXPECT_TRUE(log_enabled(Subsystem::plan, LogLevel::warn));
  configure_log(LogLevel::error, SubsystemSet::parse("net"));
  EXPECT_FALSE(log_enabled(Subsystem::net, LogLevel::warn));
  EXPECT_FALSE(log_enabled(Subsystem::plan, LogLevel::warn));
}

TEST_F(Log, SubsystemListsIncludeAndExclude) {
  const auto includes = [](std::string_view list, Subsystem s) { return SubsystemSet::parse(list).contains(s); };
  EXPECT_EQ(SubsystemSet::parse("all"), SubsystemSet::all());
  EXPECT_EQ(SubsystemSet::parse("init,net,window,topo,plan,exec,wait,health"), SubsystemSet::all());
  EXPECT_EQ(SubsystemSet::parse("^all"), SubsystemSet::none());
  EXPECT_TRUE(includes("net,exec", Subsystem::exec));
  EXPECT_FALSE(includes("net,exec", Subsystem::wait));
  EXPECT_TRUE(includes("^exec", Subsystem::wait));
  EXPECT_FALSE(includes("^exec", Subsystem::exec));
  EXPECT_FALSE(includes("all,^wait", Subsystem::wait));
  EXPECT_TRUE(includes("all,^wait", Subsystem::health));
  for (const char* bad : {"", "nett", "net,", ",net", "^", "NET"})
    EXPECT_THROW(SubsystemSet::parse(bad), InvalidArgument) << bad;
}

}  // namespace
}  // namespace umbel
