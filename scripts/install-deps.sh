#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs the distribution packages that building, testing and running agxhal needs:
# only those that are missing, and says which. Usage: install-deps.sh [build|aarch64|portable|mesa|bench|wide|html|check|fuzz|ulp]
set -eu

want=${1:-build}

# name in Debian | name in Fedora | what for. '-' = not needed there.
build_packages='
gcc|gcc|C compiler
libc6-dev|glibc-devel|C library
binutils|binutils|readelf, for the tests of our ELF files
pkg-config|pkgconf-pkg-config|finds libraries
meson|meson|build system
ninja-build|ninja-build|build system
python3|python3|generators of tables
libdrm-dev|libdrm-devel|the way to the kernel
nettle-dev|nettle-devel|SHA-256, by which compiled kernels are found again
libzstd-dev|libzstd-devel|packs what captures hold of memory
libcmocka-dev|libcmocka-devel|unit tests
libdw-dev|elfutils-devel|reads our tables of source lines, in a test
mesa-common-dev|mesa-libGL-devel|GL headers, for format names
spirv-headers|spirv-headers-devel|SPIR-V enumerations
spirv-tools|spirv-tools|validation of SPIR-V
libpng-dev|libpng-devel|the example that writes a picture
glslang-tools|glslang|compiles the examples to SPIR-V
libvulkan-dev|vulkan-loader-devel|the loader, for the tests of the Vulkan driver, and on Debian what it is generated from
-|vulkan-headers|what the Vulkan driver is generated from
vulkan-validationlayers|vulkan-validation-layers|judges how those tests use Vulkan
-|libasan|sanitizer runtime
-|libubsan|sanitizer runtime
-|libtsan|sanitizer runtime
'
aarch64_packages='
gcc-aarch64-linux-gnu|-|cross compiler
libc6-dev-arm64-cross|-|C library of the target
qemu-system-arm|-|the machine that runs the tests
debian-archive-keyring|-|the keys of its packages
libdrm-dev:arm64|-|library of the target
nettle-dev:arm64|-|library of the target
libzstd-dev:arm64|-|library of the target
libcmocka-dev:arm64|-|library of the target
libpng-dev:arm64|-|library of the target
'
portable_packages='
musl-tools|musl-gcc|a C library other than glibc, and a compiler for it
debian-archive-keyring|debian-keyring|the keys of cmocka, whose source is compiled for it
'
mesa_packages='
debootstrap|debootstrap|makes a folder with Debian
debian-archive-keyring|debian-keyring|the keys of its packages
util-linux|util-linux|mounts that go away by themselves
'
check_packages='
clang|clang|checks what functions say of locks
clang-format|clang-tools-extra|checks the layout of sources
'
bench_packages='
mesa-vulkan-drivers|mesa-vulkan-drivers|lavapipe
'
wide_packages='
python3-pip|python3-pip|fetches packages with kernels
python3-venv|python3|a folder for those that compile kernels when they run
dpkg|dpkg|opens packages of Debian
libvulkan-dev|vulkan-loader-devel|the layer that keeps their kernels
-|vulkan-headers|the layer that keeps their kernels
'
html_packages='
chromium|chromium|opens the pages of agxdump html
glslang-tools|glslang|compiles their kernels, with source lines
'
ulp_packages='
libmpfr-dev|mpfr-devel|exact results of functions
'
# The runtime of clang's sanitizers and of libFuzzer has clang's version in its name on Debian.
fuzz_packages() {
   runtime=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/libclang-rt-\1-dev/p' | head -n 1)
   echo "clang|clang|compiles the fuzzers"
   echo "llvm|llvm|names functions in reports"
   echo "${runtime:--}|compiler-rt|libFuzzer and the sanitizers"
}

case $want in
build) packages=$build_packages ;;
aarch64) packages=$aarch64_packages ;;
portable) packages=$portable_packages ;;
mesa) packages=$mesa_packages ;;
bench) packages=$bench_packages ;;
wide) packages=$wide_packages ;;
html) packages=$html_packages ;;
check) packages=$check_packages ;;
fuzz) packages=$(fuzz_packages) ;;
ulp) packages=$ulp_packages ;;
*) echo "usage: $0 [build|aarch64|portable|mesa|bench|wide|html|check|fuzz|ulp]" >&2; exit 2 ;;
esac

ID= ID_LIKE=
[ ! -r /etc/os-release ] || . /etc/os-release

column() { printf '%s' "$packages" | awk -F'|' -v c="$1" 'NF == 3 && $c != "-" { print $c }'; }

as_root() {
   if [ "$(id -u)" = 0 ]; then "$@"
   elif command -v sudo >/dev/null; then sudo "$@"
   else echo "Not root and there is no sudo. Run as root: $*" >&2; exit 1
   fi
}

debian_has() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }

install_debian() {
   if [ "$want" = aarch64 ] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
      echo "Adding the architecture arm64 to dpkg."
      as_root dpkg --add-architecture arm64
   fi
   missing=
   for package in $(column 1); do debian_has "$package" || missing="$missing $package"; done
   [ -n "$missing" ] || return 0
   echo "Installing with apt-get:$missing"
   as_root apt-get update -q
   # shellcheck disable=SC2086
   as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

# Package names reviewed against Fedora 41; untested.
install_fedora() {
   missing=
   for package in $(column 2); do rpm -q "$package" >/dev/null 2>&1 || missing="$missing $package"; done
   [ -n "$missing" ] || return 0
   echo "Installing with dnf:$missing"
   # shellcheck disable=SC2086
   as_root dnf install -y $missing
}

if [ "$want" = aarch64 ]; then
   case " $ID $ID_LIKE " in
   *" debian "*) install_debian ;;
   *) echo "The aarch64 cross build uses Debian's multiarch packages; this is ${ID:-an unknown system}." >&2; exit 1 ;;
   esac
   exit 0
fi

case " $ID $ID_LIKE " in
*" debian "*) install_debian ;;
*" fedora "*) install_fedora ;;
*)
   # Not a distribution we know: go on when the tools are there, else say what is needed.
   if [ "$want" = mesa ]; then
      if command -v debootstrap >/dev/null && command -v unshare >/dev/null; then exit 0; fi
   elif [ "$want" = build ] && command -v meson >/dev/null && command -v glslangValidator >/dev/null &&
      pkg-config --exists libdrm nettle libzstd cmocka libpng; then exit 0; fi
   echo "This system (${ID:-unknown}) is not one whose packages we know. Install these, under its names:" >&2
   printf '%s' "$packages" | awk -F'|' 'NF == 3 && $1 != "-" { printf "  %-18s %s\n", $1, $3 }' >&2
   exit 1 ;;
esac
