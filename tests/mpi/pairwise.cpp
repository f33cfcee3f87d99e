// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "pairwise.hpp"

#include <limits>
#include <map>
#include <tuple>

namespace umbel::test {
namespace {

constexpr std::size_t kOpen = std::numeric_limits<std::size_t>::max();

class Builder {
 public:
  using Allowed = std::function<bool(std::size_t, std::size_t, std::size_t, std::size_t)>;
  Builder(const std::vector<std::size_t>& sizes, const Allowed& allowed) : sizes_(sizes), allowed_(allowed) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (std::size_t j = i + 1; j < sizes.size(); ++j) {
        for (std::size_t a = 0; a < sizes[i]; ++a) {
          for (std::size_t b = 0; b < sizes[j]; ++b) {
            if (allowed(i, a, j, b)) open_[{i, a, j, b}] = true;
          }
        }
      }
    }
  }

  std::vector<Choice> run() {
    std::vector<Choice> choices;
    while (!open_.empty()) {
      const auto [i, a, j, b] = open_.begin()->first;
      Choice choice(sizes_.size(), kOpen);
      choice[i] = a;
      choice[j] = b;
      for (std::size_t k = 0; k < sizes_.size(); ++k) {
        if (choice[k] == kOpen) choice[k] = best(choice, k, choices.size());
      }
      cover(choice);
      choices.push_back(choice);
    }
    return choices;
  }

 private:
  using Pair = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

  static Pair ordered(std::size_t i, std::size_t a, std::size_t j, std::size_t b) {
    return i < j ? Pair{i, a, j, b} : Pair{j, b, i, a};
  }

  /// The value of factor k that covers most; ties go round, so that values are used evenly.
  std::size_t best(const Choice& choice, std::size_t k, std::size_t turn) const {
    std::size_t winner = turn % sizes_[k];
    int most = -1;
    for (std::size_t offset = 0; offset < sizes_[k]; ++offset) {
      const std::size_t value = (turn + offset) % sizes_[k];
      int covers = 0;
      for (std::size_t other = 0; other < sizes_.size() && covers >= 0; ++other) {
        if (other == k || choice[other] == kOpen) continue;
        const Pair pair = ordered(other, choice[other], k, value);
        if (!std::apply(allowed_, pair)) covers = -2;
        covers += open_.contains(pair) ? 1 : 0;
      }
      if (covers > most) {
        most = covers;
        winner = value;
      }
    }
    return winner;
  }

  void cover(const Choice& choice) {
    for (std::size_t i = 0; i < choice.size(); ++i) {
      for (std::size_t j = i + 1; j < choice.size(); ++j) open_.erase({i, choice[i], j, choice[j]});
    }
  }

  const std::vector<std::size_t>& sizes_;
  const Allowed& allowed_;
  std::map<Pair, bool> open_;
};

}  // namespace

std::vector<Choice> pairwise(const std::vector<std::size_t>& sizes,
                             const std::function<bool(std::size_t, std::size_t, std::size_t, std::size_t)>& allowed) {
  return Builder(sizes, allowed).run();
}

}  // namespace umbel::test
