// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// umbel_info: what Umbel sees. Alone it describes this host; under mpirun, the whole job.
// Exit status: 0, 2 usage or a wrong setting, 3 failure.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/launcher.hpp"
#include "print.hpp"
#include "umbel/umbel.hpp"
#include "umbel/umbel_mpi.h"

namespace {

using umbel::info::Description;

using umbel::apps::kFailure;
using umbel::apps::kUsage;

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(",\n\t"));
}

Description describe(umbel_comm_t comm) {
  const char* json = nullptr;
  umbel::check(umbel_describe(comm, &json));
  Description description = Description::parse(json);
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  description["hostname"] = host.data();
  description["pid"] = ::getpid();
  return description;
}

/// Everybody's description on rank 0.
std::vector<Description> gather(const Description& mine, int rank, int size) {
  const std::string text = mine.dump(-1, ' ', false, Description::error_handler_t::replace);
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> offsets;
  long long total = 0;
  if (rank == 0) {
    for (const int each : lengths) {
      offsets.push_back(static_cast<int>(total));
      total += each;
      if (total > INT_MAX) throw std::runtime_error("the descriptions of all ranks do not fit into one MPI message");
    }
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<Description> descriptions;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    descriptions.push_back(
        Description::parse(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i]))));
  }
  return descriptions;
}

void print(const std::vector<Description>& ranks, bool as_json) {
  if (!as_json) {
    fmt::print("{}", umbel::info::to_text(ranks, mpi_version()));
    return;
  }
  Description document;
  document["mpi"] = mpi_version();
  document["ranks"] = ranks;
  fmt::print("{}\n", document.dump(2));
}

int finish(int status) {
  std::fflush(stdout);
  MPI_Finalize();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  CLI::App app{
      "Prints what Umbel sees: build, ranks, nodes, memory, network, GPUs, and every configuration variable.\n"
      "Run it by mpirun, as the job that it should describe."};
  bool as_json = false;
  app.add_flag("--json", as_json, "Print JSON");
  app.set_version_flag("--version", fmt::format("Umbel {} ({})", umbel_version(), umbel_revision()));
  if (const auto status = umbel::apps::early_exit(app, argc, argv, rank, size)) return finish(*status);
  try {
    umbel_comm_t handle = nullptr;
    umbel::check(umbel_comm_create_from_mpi(&handle, MPI_COMM_WORLD, nullptr));
    umbel::Comm comm(handle);
    const std::vector<Description> ranks = gather(describe(comm.native()), rank, size);
    if (rank == 0) print(ranks, as_json);
    comm.close();
    return finish(0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", rank, error.what());
    std::fflush(nullptr);
    const auto* ours = dynamic_cast<const umbel::Error*>(&error);
    ::_exit(ours != nullptr && ours->code() == UMBEL_ERROR_INVALID_ARGUMENT ? kUsage
                                                                            : kFailure);  // MPI may never answer
  }
}
