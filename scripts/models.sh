#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compiles the models of tests/models with IREE's compiler for several Vulkan targets, and
# keeps the SPIR-V of every dispatch as tests/models/TARGET/FUNCTION_dispatch_N.spv. Then
# compiles each of them with `agx compile`, where that program is given: nothing may fail.
#
#   pip install iree-base-compiler          # into an environment of its own, not in here
#   scripts/models.sh path/to/iree-compile [path/to/agx]
set -eu
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//; 3,9p' "$0"; exit 2; }
iree=$1
agx=${2:-}
root=$(cd "$(dirname "$0")/.." && pwd)/tests/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A SIMD-group of 32 with cooperative matrices; one of 64; one of 16 without matrices.
for target in ampere rdna3 valhall4; do
   rm -rf "${root:?}/$target"
   mkdir -p "$root/$target"
   for model in "$root"/*.mlir; do
      rm -rf "$work/dump"
      "$iree" --iree-hal-target-device=vulkan --iree-vulkan-target=$target \
         --iree-hal-dump-executable-binaries-to="$work/dump" "$model" -o "$work/out.vmfb"
      for spirv in "$work"/dump/*.spv; do
         name=$(basename "$spirv" | sed 's/^module_\([a-z0-9_]*_dispatch_[0-9]*\)_.*/\1/; s/\(_dispatch_[0-9]*\)_.*$/\1/')
         cp "$spirv" "$root/$target/$name.spv"
      done
   done
done

[ -n "$agx" ] || exit 0
failed=0
for spirv in "$root"/*/*.spv; do
   "$agx" compile -o "$work/out.agxbin" "$spirv" >"$work/log" 2>&1 || { failed=1; cat "$work/log"; }
done
exit $failed
