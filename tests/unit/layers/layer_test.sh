#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# layer_test.sh COMPILER INCLUDE_FOLDERS MAY MUST_NOT (lists with ;): MAY compiles, each of MUST_NOT is not found.
set -euo pipefail

IFS=';' read -r -a folders <<<"$2"
IFS=';' read -r -a may <<<"$3"
IFS=';' read -r -a must_not <<<"$4"
options=(-std=c++20 -fsyntax-only -x c++)
for folder in "${folders[@]}"; do
  [[ -z $folder ]] || options+=(-I "$folder")
done

compile() { printf '#include "%s"\n' "$1" | "$compiler" "${options[@]}" -; }

compiler=$1
for header in "${may[@]}"; do
  compile "$header" || { echo "$header does not compile on its own layer's include path" >&2; exit 1; }
done
for header in "${must_not[@]}"; do
  said=$(LC_ALL=C compile "$header" 2>&1) && { echo "$header can be included, and must not" >&2; exit 1; }
  [[ $said == *"$header: No such file"* ]] || { echo "$header: not \"No such file\" but: $said" >&2; exit 1; }
done
