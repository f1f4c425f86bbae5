#!/bin/sh
# SPDX-License-Identifier: MIT
#
# headers.sh INCLUDE COMPILER...: each public header compiles by itself as strict C99 and, where
# there is a C++ compiler, as C++11, and twice in one file.
set -e
include=$1
shift
cxx=${CXX:-$(command -v g++ || command -v clang++ || true)}
strict="-Wall -Wextra -Werror -pedantic-errors -fsyntax-only -I$include"
for header in "$include"/agx/*.h; do
   name=agx/${header##*/}
   printf '#include <%s>\n#include <%s>\n' "$name" "$name" >"headers-$$.txt"
   "$@" -std=c99 $strict -x c "headers-$$.txt"
   [ -z "$cxx" ] || $cxx -std=c++11 $strict -x c++ "headers-$$.txt"
done
rm -f "headers-$$.txt"
[ -n "$cxx" ] || echo "no C++ compiler: only C was tried"
