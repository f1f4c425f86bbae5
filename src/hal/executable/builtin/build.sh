#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the .spv files of this folder anew. Needs glslang 11 or newer; what it makes is committed.
set -e
cd "$(dirname "$0")"
for kernel in fill copy; do
   ${GLSLANG:-glslangValidator} -V --target-env vulkan1.3 --quiet $kernel.comp -o $kernel.spv
done
