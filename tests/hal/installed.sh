#!/bin/sh
# SPDX-License-Identifier: MIT
#
# installed.sh BUILD SOURCE COMPILER...: installs into a folder of its own, and builds and runs the
# README's program and the examples against that tree by pkg-config, as applications do.
set -e
build=$1 source=$2
shift 2
tree=$PWD/installed-$$
trap 'rm -rf "$tree"' EXIT
meson install -C "$build" --no-rebuild --quiet --tags devel,runtime --destdir "$tree" >/dev/null
pc=$(find "$tree" -name agxhal.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
sed -i "s|^prefix=.*|prefix=$tree$prefix|" "$pc"
export PKG_CONFIG_PATH="${pc%/*}" AGX_DEVICE=virtual
libraries=$(pkg-config --variable=libdir agxhal)
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

[ "$(pkg-config --modversion agxhal)" = 0.1.0 ]
[ "$(pkg-config --libs --static agxhal)" = "$(pkg-config --libs agxhal)" ] # there is no static library
cd "$tree"
"$@" "$source/tests/hal/first_program.c" $(pkg-config --cflags --libs agxhal) -o first_program
[ "$(./first_program "$source/tests/corpus/saxpy.spv")" = "2.5 * 999 + 1 = 2498.5" ]
command -v glslangValidator >/dev/null && command -v make >/dev/null || exit 0
for name in pipeline stream; do
   make -s -C "$source/examples" OUT="$tree$prefix" BUILD="$tree/examples" CC="$*" "$tree/examples/$name"
   "examples/$name"
done
