#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
#
# record.sh FOLDER COMMAND …: runs the command and leaves in FOLDER what mpirun does not tell: pid.RANK, status.RANK, and
# end.RANK (seconds). Exits with 0, so that mpirun leaves the other ranks alone.
folder=$1
shift
"$@" &
child=$!
echo "$child" >"$folder/pid.$OMPI_COMM_WORLD_RANK.part"
mv "$folder/pid.$OMPI_COMM_WORLD_RANK.part" "$folder/pid.$OMPI_COMM_WORLD_RANK"
wait "$child"
status=$?
date +%s.%N >"$folder/end.$OMPI_COMM_WORLD_RANK"
echo "$status" >"$folder/status.$OMPI_COMM_WORLD_RANK"
exit 0
