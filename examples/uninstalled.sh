#!/bin/sh
# SPDX-License-Identifier: MIT
#
# uninstalled.sh PROGRAM BUILD COMPILER...: builds an example as its Makefile does, against the library in a build tree, and
# runs it on the virtual AGX.
set -e
name=$1 build=$2 here=$(dirname "$0")
shift 2
folder=$PWD/$name.build
PKG_CONFIG_PATH=$build/meson-uninstalled make -s -B -C "$here" OUT="$build" BUILD="$folder" CC="$*" "$folder/$name"
LD_LIBRARY_PATH=$build/src/hal exec "$folder/$name" virtual
