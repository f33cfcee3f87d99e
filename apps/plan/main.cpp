// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// umbel_plan: looks at algorithms without running them. `prove` checks them, `show` prints their programs, `simulate`
// prices them on a described cluster, `explain` says which one the planner takes and why.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "common/usage.hpp"
#include "plan.hpp"

namespace {

constexpr const char* kPlacement = "Placement, as in UMBEL_NODES: 2, or 0,0,1,1, or 0/0,0/1,1/0; default one node";

void add_prove(CLI::App& app, umbel::plan::ProveOptions& options) {
  CLI::App* command = app.add_subcommand("prove", "Run all programs symbolically and try mutants of them");
  command->add_flag("--quick", options.quick, "Seconds: few ranks in all shapes, some of many");
  command->add_flag("--full", options.full, "Many minutes: every shape and setting of up to 16 ranks, many of more")
      ->excludes("--quick");
  command->add_option("--collective", options.collective, "Only this collective");
  command->add_option("--algorithm", options.algorithm, "Only this algorithm");
  command->add_option("--max-ranks", options.max_ranks, "Largest number of ranks")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Threads; 0 is one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--json", options.json, "Also write the result to this file");
}

void add_show(CLI::App& app, umbel::plan::ShowOptions& options) {
  CLI::App* command = app.add_subcommand("show", "Print the programs of an algorithm");
  command->add_option("--collective", options.collective, "Of which collective")->capture_default_str();
  command->add_option("--algorithm", options.algorithm, "Which")->required();
  command->add_option("--root", options.root, "Root of a rooted collective")->capture_default_str();
  command->add_option("--ranks", options.ranks, "Number of ranks")->required()->check(CLI::Range(1, 4096));
  command->add_option("--nodes", options.nodes, kPlacement);
  command->add_option("--rank", options.rank, "Only this rank's program");
  command->add_flag("--direct", options.direct, "Local peers can read each other's buffers");
  command->add_option("--channels", options.channels, "Channels side by side")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--depth", options.depth, "Slots of a message stream")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
}

/// What `simulate` and `explain` have in common. Returns --ranks.
CLI::Option* add_call(CLI::App* command, umbel::plan::CallOptions& options) {
  command->add_option("--collective", options.collective, "Which collective")->capture_default_str();
  command->add_option("--algorithm", options.algorithm, "Only this algorithm, or all")->capture_default_str();
  command->add_option("--root", options.root, "Root of a rooted collective")->capture_default_str();
  command->add_option("--nodes", options.nodes, kPlacement);
  CLI::Option* cluster =
      command->add_option("--cluster", options.cluster, "JSON file of a cluster's figures; default: a plain one");
  command
      ->add_option("--tuning", options.tuning,
                   "Instead, a tuning file: its entry for these ranks and nodes, or else its only one")
      ->excludes(cluster);
  command->add_option("--dtype", options.dtype, "Type of the elements")->capture_default_str();
  command->add_option("--op", options.op, "Operation of a reduction")->capture_default_str();
  command->add_flag("--direct", options.direct, "Local peers can read each other's buffers");
  command->add_flag("--registered", options.registered, "As with UMBEL_REGISTERED: they read them in place");
  command->add_flag("--reproducible", options.reproducible, "Only what UMBEL_REPRODUCIBLE allows");
  command->add_option("--json", options.json, "Also write the result to this file");
  return command->add_option("--ranks", options.ranks, "Number of ranks")->check(CLI::Range(1, 4096));
}

void add_simulate(CLI::App& app, umbel::plan::SimulateOptions& options) {
  CLI::App* command = app.add_subcommand("simulate", "How long algorithms take on a described cluster");
  CLI::Option* ranks = add_call(command, options.call);
  CLI::Option* sizes =
      command->add_option("--sizes", options.sizes, "Bytes: 8:64M:x4 (the default), 1M:8M:+1M, or 1K,64K");
  command->add_option("--measured", options.measured, "Beside the times that a perf app wrote with --json to this file")
      ->excludes(sizes)
      ->excludes("--tuning");
  command->callback([&options, command, ranks] {
    if (options.measured.empty() && ranks->empty()) throw CLI::RequiredError("--ranks");
    if (!options.measured.empty() && command->count("--collective") == 0) options.call.collective.clear();
  });
}

void add_explain(CLI::App& app, umbel::plan::ExplainOptions& options) {
  CLI::App* command = app.add_subcommand("explain", "What the planner chooses from for a call, and why");
  add_call(command, options.call)->required();
  command->add_option("--bytes", options.bytes, "Of a buffer; of a ranked collective, of one rank's share: 64K, 1M, …");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Proves, shows, simulates and explains Umbel's algorithms");
  app.require_subcommand(1);
  umbel::plan::ProveOptions prove_options;
  umbel::plan::ShowOptions show_options;
  add_prove(app, prove_options);
  umbel::plan::SimulateOptions simulate_options;
  umbel::plan::ExplainOptions explain_options;
  add_show(app, show_options);
  add_simulate(app, simulate_options);
  add_explain(app, explain_options);
  try {
    app.parse(argc, argv);
    if (app.got_subcommand("prove")) return umbel::plan::prove(prove_options);
    if (app.got_subcommand("simulate")) return umbel::plan::simulate(simulate_options);
    if (app.got_subcommand("explain")) return umbel::plan::explain(explain_options);
    return umbel::plan::show(show_options);
  } catch (const CLI::ParseError& error) {
    const umbel::apps::UsageText usage = umbel::apps::usage_text(app, error);
    fmt::print(usage.wrong ? stderr : stdout, "{}", usage.text);
    return usage.wrong ? umbel::plan::kUsage : umbel::plan::kGood;
  } catch (const umbel::InvalidArgument& error) {
    fmt::print(stderr, "umbel_plan: {}\n", error.what());
    return umbel::plan::kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "umbel_plan: {}\n", error.what());
    return umbel::plan::kNotProved;
  }
}
