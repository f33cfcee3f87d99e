// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Writes the pages of docs/ that come from tables in the source (target update_docs).
#include <fstream>
#include <iostream>
#include <string>

#include "base/config.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_docs FOLDER\n";
    return 2;
  }
  std::ofstream page(std::string(argv[1]) + "/configuration.md");
  page << umbel::configuration_markdown();
  page.close();
  if (!page) {
    std::cerr << "cannot write " << argv[1] << "/configuration.md\n";
    return 1;
  }
  return 0;
}
