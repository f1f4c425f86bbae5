#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the .spv files of this folder anew. Needs glslang 11 or newer; what it makes is committed.
set -e
cd "$(dirname "$0")"
glslang="${GLSLANG:-glslangValidator} -V --target-env vulkan1.3 --quiet"
for kernel in fill copy; do
   $glslang $kernel.comp -o $kernel.spv
done
$glslang image.comp -o copy_image.spv
$glslang -DCLEAR image.comp -o clear_image.spv
