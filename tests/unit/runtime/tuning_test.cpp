// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Tuning files: written and read back, broken ones, what they say to a job, and where they are looked for.
#include "runtime/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"

namespace umbel::runtime {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::ordered_json;

JobTopology two_nodes() {
  return {.ranks_on_nodes = {3, 2},
          .ranks_per_core = 1.5,
          .rails = 2,
          .processor = "a \"fast\" one",
          .cma = true,
          .network = "eth0"};
}

TuningEntry entry_for(const JobTopology& topology) {
  TuningEntry entry{.topology = topology,
                    .made = {.version = "0.1.0", .revision = "abc", .date = "2026-01-31T12:00:00Z", .host = "n0"},
                    .figures = {1.25e-6, 1.0 / 3e9, 0, 1e-10, 7e-11, 2e-5, 9e-6, 1.0 / 7e8},
                    .at_start = {}};
  entry.at_start.local_alpha = 1e-7;
  return entry;
}

TuningQuestion question_of(const std::string& path, const JobTopology& topology = two_nodes()) {
  return {.setting = path, .topology = topology, .version = "0.1.0", .at_start = entry_for(topology).at_start};
}

class TuningFiles : public testing::Test {
 protected:
  TuningFiles() : folder_(testing::TempDir() + "umbel tuning " + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~TuningFiles() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "tuning.json") const { return folder_ + "/" + name; }

  std::string write(const std::string& text) const {
    std::ofstream(path()) << text;
    return path();
  }
  std::string write(const Json& document) const { return write(document.dump()); }

  Json written() const {
    std::ifstream stream(path());
    return Json::parse(stream);
  }

  /// What is wrong with a file that has one entry, once `damage` was done to it.
  std::string complaint(const std::function<void(Json&)>& damage) const {
    write_tuning_file(path(), {.entries = {entry_for(two_nodes())}});
    Json document = written();
    damage(document);
    return complaint(write(document));
  }
  static std::string complaint(const std::string& file) {
    try {
      (void)read_tuning_file(file);
      return "";
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  }

  std::string folder_;
};

TEST_F(TuningFiles, AreReadAsTheyWereWrittenToTheLastBit) {
  JobTopology one_node = two_nodes();
  one_node.ranks_on_nodes = {5};
  one_node.network = "";
  const TuningEntry first = entry_for(two_nodes()), second = entry_for(one_node);
  write_tuning_file(path(), {.entries = {first, second}});
  const TuningFile file = read_tuning_file(path());
  ASSERT_EQ(file.entries.size(), 2U);
  for (const TuningEntry* entry : {&first, &second}) {
    const TuningEntry& back = file.entries[entry == &first ? 0 : 1];
    EXPECT_EQ(back.figures, entry->figures);
    for (const auto& [name, figure] : algos::kModelFigures)
      EXPECT_EQ(back.at_start.*figure, entry->at_start.*figure) << name;
    EXPECT_THAT(differences(back.topology, entry->topology), IsEmpty());
    EXPECT_EQ(back.topology.hash(), entry->topology.hash());
    EXPECT_EQ(back.provenance(), "made 2026-01-31T12:00:00Z on n0 by Umbel 0.1.0 (abc)");
  }
  EXPECT_NE(first.topology.hash(), second.topology.hash());
  EXPECT_FALSE(written()["entries"][0]["figures"].contains("direct_beta")) << "it was not measured";
}

TEST_F(TuningFiles, LeaveNothingElseBehind) {
  write_tuning_file(path(), {.entries = {entry_for(two_nodes())}});
  write_tuning_file(path(), {});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_THAT(read_tuning_file(path()).entries, IsEmpty());
  EXPECT_THROW(write_tuning_file(path("no/folder"), {}), SystemError);
}

TEST_F(TuningFiles, HaveOneEntryForATopology) {
  TuningFile file;
  file.put(entry_for(two_nodes()));
  JobTopology other = two_nodes();
  other.cma = false;
  file.put(entry_for(other));
  TuningEntry again = entry_for(two_nodes());
  again.made.host = "n1";
  file.put(again);
  ASSERT_EQ(file.entries.size(), 2U);
  EXPECT_EQ(file.entries[0].made.host, "n1");
  EXPECT_EQ(file.entries[1].made.host, "n0");
}

TEST_F(TuningFiles, ThatAreBrokenAreRefusedWithTheReason) {
  EXPECT_THAT(complaint(path("nowhere")), AllOf(HasSubstr("cannot read"), HasSubstr("nowhere")));
  EXPECT_THAT(complaint(folder_), HasSubstr("is no tuning file"));
  EXPECT_THAT(complaint(write(std::string("hello"))), HasSubstr("is no tuning file"));
  EXPECT_THAT(complaint(write(std::string())), HasSubstr("is no tuning file"));
  EXPECT_THAT(complaint(write(std::string("[1]"))), HasSubstr("not an object"));
  EXPECT_THAT(complaint(write(std::string("{}"))), HasSubstr("schema"));
  EXPECT_EQ(complaint([](Json&) {}), "");
  EXPECT_THAT(complaint([](Json& file) { file["schema"] = 2; }), HasSubstr("its schema is 2"));
  const auto figure = [&](const Json& value) {
    return complaint([&](Json& file) { file["entries"][0]["figures"]["gamma"] = value; });
  };
  EXPECT_THAT(figure(0), HasSubstr("entry 1: gamma is 0, not a number above 0"));
  EXPECT_THAT(figure(-1e-9), HasSubstr("gamma is -1e-09"));
  EXPECT_THAT(figure("1e-9"), HasSubstr("gamma is \"1e-9\""));
  EXPECT_THAT(figure(std::numeric_limits<double>::infinity()), HasSubstr("gamma is null"));
  EXPECT_THAT(complaint([](Json& file) { file["entries"][0]["figures"]["gama"] = 1e-9; }),
              HasSubstr("gama is no figure that is tuned"));
  EXPECT_THAT(complaint([](Json& file) { file["entries"][0]["figures"]["rails"] = 2; }),
              HasSubstr("rails is no figure that is tuned"));
  EXPECT_THAT(complaint([](Json& file) { file["entries"][0]["at_start"].erase("net_beta"); }), HasSubstr("net_beta"));
  EXPECT_THAT(complaint([](Json& file) { file["entries"][0].erase("made"); }), HasSubstr("made"));
  EXPECT_THAT(complaint([](Json& file) { file["entries"][0]["topology"]["processor"] = "another"; }),
              HasSubstr("changed by hand"));
  EXPECT_THAT(complaint([](Json& file) { file["entries"][0]["topology"]["nodes"] = 3; }), HasSubstr("ranks_on_nodes"));
}

TEST_F(TuningFiles, ServeTheJobThatTheyWereMeasuredOn) {
  JobTopology other = two_nodes();
  other.ranks_on_nodes = {5};
  write_tuning_file(path(), {.entries = {entry_for(other), entry_for(two_nodes())}});
  const TuningAnswer answer = ask_tuning_file(question_of(path()));
  EXPECT_EQ(answer.figures, entry_for(two_nodes()).figures);
  EXPECT_EQ(answer.warning, "");
  EXPECT_THAT(answer.text, AllOf(HasSubstr(path()), HasSubstr("2026-01-31"), HasSubstr("local_alpha 0.10 us → 1.25 us"),
                                 Not(HasSubstr("direct_beta"))));
}

TEST_F(TuningFiles, AreOfNoUseToAnotherJobAndSayWhy) {
  write_tuning_file(path(), {.entries = {entry_for(two_nodes())}});
  const auto warning = [&](const std::function<void(TuningQuestion&)>& change) {
    TuningQuestion question = question_of(path());
    change(question);
    const TuningAnswer answer = ask_tuning_file(question);
    EXPECT_EQ(answer.figures, Figures{});
    EXPECT_THAT(answer.text, HasSubstr("none: "));
    EXPECT_THAT(answer.warning, AllOf(HasSubstr(path()), HasSubstr("made 2026-01-31T12:00:00Z on n0"),
                                      HasSubstr("Run umbel_tune"), HasSubstr("UMBEL_TUNING=off")));
    return answer.warning;
  };
  EXPECT_THAT(warning([](TuningQuestion& q) {
                q.topology.ranks_on_nodes = {2, 2};
              }),
              AllOf(HasSubstr("ranks: 1 node of 3, 1 node of 2, here 2 nodes of 2"), Not(HasSubstr("processor"))));
  EXPECT_THAT(warning([](TuningQuestion& q) { q.topology.processor = "another"; }),
              HasSubstr("processor: a \"fast\" one, here another"));
  EXPECT_THAT(warning([](TuningQuestion& q) { q.topology.cma = false; }), HasSubstr("CMA: works, here does not work"));
  EXPECT_THAT(warning([](TuningQuestion& q) { q.topology.network = "ib0"; }), HasSubstr("network: eth0, here ib0"));
  EXPECT_THAT(warning([](TuningQuestion& q) { q.topology.rails = 1; }), HasSubstr("rails: 2, here 1"));
  EXPECT_THAT(warning([](TuningQuestion& q) { q.topology.ranks_per_core = 1; }),
              HasSubstr("ranks per core: 1.5, here 1"));
  EXPECT_THAT(warning([](TuningQuestion& q) { q.version = "0.2.0"; }),
              HasSubstr("version of Umbel: 0.1.0, here 0.2.0"));
}

TEST_F(TuningFiles, OfSeveralThatDoNotFitTheNearestIsNamed) {
  JobTopology far = two_nodes(), near = two_nodes();
  far.ranks_on_nodes = {8, 8};
  far.cma = false;
  near.rails = 1;
  write_tuning_file(path(), {.entries = {entry_for(far), entry_for(near)}});
  EXPECT_THAT(ask_tuning_file(question_of(path())).warning,
              AllOf(HasSubstr("rails: 1, here 2"), Not(HasSubstr("CMA"))));
}

/// The variables that say where the default place is.
class DefaultPlace : public TuningFiles {
 protected:
  DefaultPlace() : home_(kept("HOME")), config_(kept("XDG_CONFIG_HOME")) {
    ::setenv("HOME", folder_.c_str(), 1);
    ::unsetenv("XDG_CONFIG_HOME");
  }
  ~DefaultPlace() override {
    restore("HOME", home_);
    restore("XDG_CONFIG_HOME", config_);
  }

  static std::optional<std::string> kept(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  static void restore(const char* name, const std::optional<std::string>& value) {
    if (value)
      ::setenv(name, value->c_str(), 1);
    else
      ::unsetenv(name);
  }

  std::optional<std::string> home_, config_;
};

TEST_F(DefaultPlace, IsUnderXdgConfigHomeOrElseHome) {
  EXPECT_EQ(tuning_path("auto"), folder_ + "/.config/umbel/tuning.json");
  ::setenv("XDG_CONFIG_HOME", "/etc/xdg", 1);
  EXPECT_EQ(tuning_path("auto"), "/etc/xdg/umbel/tuning.json");
  ::unsetenv("XDG_CONFIG_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(tuning_path("auto"), "");
  EXPECT_EQ(tuning_path("off"), "");
  EXPECT_EQ(tuning_path("a file"), "a file");
}

TEST_F(DefaultPlace, NeedNotHaveAFile) {
  EXPECT_EQ(ask_tuning_file(question_of("auto")).text, "none");
  EXPECT_EQ(ask_tuning_file(question_of("auto")).warning, "");
  ::unsetenv("HOME");
  EXPECT_EQ(ask_tuning_file(question_of("auto")).text, "none");
}

TEST_F(DefaultPlace, HasTheFileThatIsUsedUnlessSwitchedOff) {
  std::filesystem::create_directories(folder_ + "/.config/umbel");
  write_tuning_file(tuning_path("auto"), {.entries = {entry_for(two_nodes())}});
  EXPECT_EQ(ask_tuning_file(question_of("auto")).figures, entry_for(two_nodes()).figures);
  EXPECT_EQ(ask_tuning_file(question_of("off")).figures, Figures{});
}

TEST_F(DefaultPlace, MayHaveABrokenFileAndANamedOneMayNot) {
  std::filesystem::create_directories(folder_ + "/.config/umbel");
  std::ofstream(tuning_path("auto")) << "{";
  const TuningAnswer answer = ask_tuning_file(question_of("auto"));
  EXPECT_EQ(answer.figures, Figures{});
  EXPECT_THAT(answer.warning, AllOf(HasSubstr(tuning_path("auto")), HasSubstr("is no tuning file")));
  EXPECT_THROW(ask_tuning_file(question_of(tuning_path("auto"))), InvalidArgument);
  EXPECT_THROW(ask_tuning_file(question_of(path("nowhere"))), InvalidArgument);
  TuningQuestion of_a_part = question_of(path("nowhere"));
  of_a_part.must_be_read = false;
  EXPECT_THAT(ask_tuning_file(of_a_part).warning, HasSubstr("cannot read the tuning file"));
}

}  // namespace
}  // namespace umbel::runtime
