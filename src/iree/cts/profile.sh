#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: profile.sh TOOLS MODULE FUNCTION [INPUT...]
# Profiles a module on the virtual AGX with iree-run-module, and has each command of iree-profile, both in the folder
# TOOLS, read the bundle: they look closer at how records refer to each other than the conformance suite does.
set -e
[ $# -ge 3 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
tools=$1 module=$2 function=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for input; do shift; set -- "$@" "--input=$input"; done
export AGX_DEVICE=virtual
"$tools/iree-run-module" --device=agx --module="$module" --function="$function" "$@" \
   --device_profiling_mode=queue-events,device-queue-events,dispatch-events,memory-events,executable-metadata,counters \
   --device_profiling_counter=instructions --device_profiling_output="$work/bundle" >"$work/log" 2>&1 ||
   { cat "$work/log"; exit 1; }
for command in summary statistics explain executable dispatch command counter memory queue; do
   echo "== iree-profile $command"
   "$tools/iree-profile" $command "$work/bundle" >"$work/$command" || exit 1
done
# What was asked for is there.
grep -q 'matched=[1-9].* invalid=0' "$work/dispatch"
grep -q 'name=instructions' "$work/counter"
grep -q 'type=execute' "$work/queue"
