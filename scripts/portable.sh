#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds the compiler alone (meson's compiler_only) with another C library, musl, and with nothing visible but what POSIX
# promises (_POSIX_C_SOURCE=200809L), and runs its tests. The headers of Linux and of glibc aren't in the compiler's way.
#
#    portable.sh          builds and tests
#    portable.sh build    only builds, without the tests, which need cmocka's source from the network
#
# Environment:
#    BUILD             the build folder; default build-portable
#    PORTABLE_CACHE    where cmocka for musl is kept; default ~/.cache/agxhal-portable
#    PORTABLE_MIRROR   where its source package comes from; default what this machine's apt uses
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build-portable}
cache=${PORTABLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/agxhal-portable}

fail() { echo "portable.sh: $*" >&2; exit 1; }

. "$top/scripts/debian.sh"

# Debian's cmocka is linked with glibc, so that its source package is compiled.
make_cmocka() {
   url=$(debian_mirror "${PORTABLE_MIRROR:-}") || fail "apt's lists name no Debian mirror; give one in PORTABLE_MIRROR"
   work=$cache/cmocka.new
   rm -rf "$work"
   mkdir -p "$work/lists/partial" "$work/apt/archives/partial" "$work/include"
   printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$url" \
      "$(. /etc/os-release; echo "${VERSION_CODENAME:-sid}")" /usr/share/keyrings/debian-archive-keyring.gpg > "$work/suite.sources"
   for command in update "source --download-only cmocka"; do
      # shellcheck disable=SC2086
      (cd "$work" && apt-get -q -o Dir::Etc::SourceList="$work/suite.sources" -o Dir::Etc::SourceParts=/dev/null \
         -o Dir::State::Lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$work/apt" \
         -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none $command) >> "$work/log" 2>&1 ||
         { tail -n 3 "$work/log" >&2; fail "apt-get $command failed: is there a network?"; }
   done
   tar -x -f "$work"/cmocka_*.orig.tar.xz -C "$work" --strip-components=1
   version=$(sed -n 's/^project(cmocka VERSION \([0-9.]*\).*/\1/p' "$work/CMakeLists.txt")
   musl-gcc -O1 -D_GNU_SOURCE -DHAVE_MALLOC_H -DHAVE_INTTYPES_H -DHAVE_STDINT_H -DHAVE_STRINGS_H -DHAVE_STRSIGNAL \
      -DHAVE_UNISTD_H -DHAVE_TIME_H -DHAVE_CLOCK_REALTIME -DHAVE_CLOCK_GETTIME -DHAVE_STRUCT_TIMESPEC -DHAVE_SNPRINTF \
      -DHAVE_VSNPRINTF -DHAVE_GCC_THREAD_LOCAL_STORAGE -DHAVE_SIGNAL_H -I"$work/include" -c "$work/src/cmocka.c" -o "$work/cmocka.o"
   ar rcs "$work/libcmocka.a" "$work/cmocka.o"
   printf 'Name: cmocka\nDescription: unit tests\nVersion: %s\nLibs: -L%s -lcmocka\nCflags: -isystem %s\n' \
      "${version:-1}" "$cache/cmocka" "$cache/cmocka/include" > "$work/cmocka.pc"
   rm -rf "$work/lists" "$work/apt" "$cache/cmocka"
   mv "$work" "$cache/cmocka"
}

"$top/scripts/install-deps.sh" portable
# The headers of GL and SPIR-V are the same on any system.
mkdir -p "$cache/headers"
for headers in GL KHR spirv; do ln -sfn "/usr/include/$headers" "$cache/headers/$headers"; done
tests=true
if [ "${1:-test}" = build ]; then
   tests=false build=$build-only
elif [ ! -e "$cache/cmocka/cmocka.pc" ]; then
   make_cmocka
fi
if [ ! -f "$build/build.ninja" ]; then
   PKG_CONFIG_LIBDIR=$cache/cmocka CC=musl-gcc CFLAGS="-isystem $cache/headers" meson setup "$build" --wrap-mode=nodownload \
      ${CI:+--werror} -Dcompiler_only=true -Dtests=$tests -Doptimization=1
fi
ninja -C "$build"

# A big-endian host is refused by its name.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/big.ini" <<'END'
[binaries]
c = 'musl-gcc'
[properties]
needs_exe_wrapper = true
[host_machine]
system = 'linux'
cpu_family = 's390x'
cpu = 's390x'
endian = 'big'
END
! meson setup "$folder/build" "$top" -Dcompiler_only=true --cross-file "$folder/big.ini" > "$folder/said" 2>&1 ||
   fail "a big-endian host isn't refused"
grep -q 'a big-endian host (s390x)' "$folder/said" || { cat "$folder/said" >&2; fail "a big-endian host is refused with other words"; }

[ "$tests" = false ] || meson test -C "$build" --no-rebuild --print-errorlogs
