#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# exact_costs.sh NM ARCHIVE: nothing in the algorithms calls a function of libm whose last bits may depend on the
# processor: with them the choice of an algorithm would.
set -eu
needs=$("$1" --undefined-only --format=posix "$2" | cut -d' ' -f1 | sort -u)
echo "$needs" | grep -qx frexp || { echo "frexp is not seen among what $2 needs: the look is no good" >&2; exit 1; }
inexact='(log|log2|log10|log1p|exp|exp2|exp10|expm1|pow|cbrt|hypot|sin|cos|tan|[a-z]*gamma)[fl]?'
! echo "$needs" | grep -Ex "$inexact" || { echo "costs must not call these" >&2; exit 1; }
