// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/reduce/folds.hpp"

#include <algorithm>

#include "base/program.hpp"

namespace umbel::algos::reduce {
namespace {

/// Takes operands one after another, as many into one reduce as keep the order.
class Steps {
 public:
  explicit Steps(const std::vector<Operand>& operands) : operands_(operands) {}

  void take(int operand) {
    const Rank low = lowest(operand);
    const bool full = next_.size() == kMaxSources;
    if (full || (next_.size() > 1 && low < lowest(next_.back()))) close(false);
    const bool first = !next_.empty() && low < lowest(next_.back());
    next_.insert(first ? next_.begin() : next_.end(), operand);
  }

  void close(bool as_tree) {
    if (next_.size() < 2) return;
    lowest_ = lowest(next_.front());
    steps_.push_back({.operands = std::move(next_), .as_tree = as_tree});
    next_ = {FoldStep::kBefore};
  }

  std::vector<FoldStep> finish() {
    close(false);
    return std::move(steps_);
  }

 private:
  Rank lowest(int operand) const {
    return operand == FoldStep::kBefore ? lowest_ : operands_[static_cast<std::size_t>(operand)].lowest;
  }

  const std::vector<Operand>& operands_;
  std::vector<FoldStep> steps_;
  std::vector<int> next_;  // ascending
  Rank lowest_ = 0;        // of what the steps have made
};

}  // namespace

std::vector<FoldStep> fold_steps(const std::vector<Operand>& operands, Fold fold, bool ordered) {
  std::vector<int> numbers;
  for (std::size_t n = 0; n < operands.size(); ++n) numbers.push_back(static_cast<int>(n));
  const auto at = [&](int number) { return operands[static_cast<std::size_t>(number)]; };
  Steps steps(operands);
  if (fold == Fold::at_once) {
    std::ranges::sort(numbers, {}, [&](int number) { return at(number).lowest; });
    if (ordered) {
      const auto first = std::ranges::stable_partition(numbers, [&](int number) { return at(number).local; }).begin();
      for (auto number = numbers.begin(); number != first; ++number) steps.take(*number);
      steps.close(true);
      numbers.erase(numbers.begin(), first);
    }
  }
  for (int number : numbers) steps.take(number);
  return steps.finish();
}

Span span_of(const std::vector<FoldStep>& steps, const std::vector<Span>& operands) {
  Span before;
  for (const FoldStep& step : steps) {
    std::vector<Span> spans;
    for (int number : step.operands)
      spans.push_back(number == FoldStep::kBefore ? before : operands[static_cast<std::size_t>(number)]);
    before = step.as_tree ? fold_as_tree(spans) : fold(spans);
  }
  return before;
}

}  // namespace umbel::algos::reduce
