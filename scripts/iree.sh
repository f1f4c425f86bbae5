#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: iree.sh SOURCE PLUGIN BUILD OUTPUT MPI
# Builds IREE's runtime and tools from its SOURCE with the driver in PLUGIN (src/iree), in the folder BUILD, and links
# iree-run-module to OUTPUT. MPI: ON, OFF or AUTO. Called by meson, which names libagxhal by PKG_CONFIG_PATH.
set -e
[ $# = 5 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
mkdir -p "$3"
source=$1 plugin=$2 build=$(realpath "$3") output=$4
[ -f "$build/build.ninja" ] || cmake -G Ninja -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DIREE_BUILD_COMPILER=OFF \
   -DIREE_BUILD_SAMPLES=OFF -DIREE_BUILD_TESTS=OFF -DIREE_ENABLE_WERROR_FLAG=OFF -DIREE_HAL_DRIVER_DEFAULTS=OFF \
   -DIREE_HAL_DRIVER_LOCAL_SYNC=ON -DIREE_HAL_DRIVER_LOCAL_TASK=ON -DIREE_ENABLE_LIBBACKTRACE=OFF \
   -DIREE_CMAKE_PLUGIN_PATHS="$plugin" -DIREE_EXTERNAL_HAL_DRIVERS=agx -DAGX_MPI="$5"
ninja -C "$build" iree-run-module iree-benchmark-module
ln -sf "$build/tools/iree-run-module" "$output"
