#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs tests on Debian's own kernels, in a machine that QEMU makes up: its graphics card, virtio-gpu, has a render node
# with the kernel's timeline syncobjs, and its module vgem has fences that stay pending. No disk, no network, no KVM.
#
#    kernel.sh              runs every test on every kernel
#    kernel.sh FILE...      runs these programs instead; PROGRAM@NAME runs the test file NAME of a program
#
# Environment:
#    BUILD            the build folder with the tests; default build-out
#    KERNEL_SUITES    Debian suites whose kernels are used; default "trixie sid"
#    KERNEL_CACHE     where they are kept; default ~/.cache/agxhal-kernel. Remove a suite's folder to get a newer one
#    KERNEL_MIRROR    where packages come from; default what this machine's apt uses
#    KERNEL_ENV       variables for the tests, such as "AGX_ROWS_RECORD=1"
#    KERNEL_VERBOSE   1: show all that the machine says
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build-out}
cache=${KERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/agxhal-kernel}
suites=${KERNEL_SUITES:-trixie sid}
tests="virtual/kernel_rows_test winsys/winsys_test@timeline_share winsys/winsys_test@udmabuf
   system_test@kernel_share system_test@conformance/semaphore system_test@conformance/watch"
modules="virtio_pci virtio_gpu vgem"

fail() { echo "kernel.sh: $*" >&2; exit 1; }

case $(uname -m) in
x86_64) arch=amd64 qemu=qemu-system-x86_64 package=qemu-system-x86 machine="-M q35 -cpu max" console=ttyS0 ;;
aarch64) arch=arm64 qemu=qemu-system-aarch64 package=qemu-system-arm machine="-M virt -cpu max" console=ttyAMA0 ;;
*) fail "$(uname -m): x86_64 and aarch64 are possible" ;;
esac

mirror() {
   if [ -n "${KERNEL_MIRROR:-}" ]; then echo "$KERNEL_MIRROR"; return; fi
   found=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null |
      awk '$1 == "URIs:" || $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) { print $i; exit } }')
   [ -n "$found" ] || fail "apt's lists name no Debian mirror; give one in KERNEL_MIRROR"
   echo "$found"
}

# apt with lists of its own, for one suite; this machine's are not touched.
apt() {
   tool=$1; shift
   "$tool" -q -o Dir::Etc::SourceList="$work/suite.sources" -o Dir::Etc::SourceParts=/dev/null \
      -o Dir::State::Lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$work/apt" \
      -o APT::Architecture=$arch -o APT::Architectures=$arch -o APT::Sandbox::User="$(id -un)" \
      -o Acquire::Languages=none "$@"
}

# The kernel's package and those that it is divided into; the suite's linux-image-ARCH depends on the newest.
kernel_packages() {
   image=$(apt apt-cache show "linux-image-$arch" | sed -n 's/^Depends:.*\(linux-image-[0-9][^ ,]*\).*/\1/p' | head -n 1)
   [ -n "$image" ] || fail "$1 has no linux-image-$arch"
   echo "$image"
   apt apt-cache show "$image" | sed -n 's/^\(Pre-\)*Depends: //p' | tr ',' '\n' |
      sed -n 's/^ *\(linux-\(binary\|modules\)-[0-9][^ ]*\).*/\1/p' | sort -u
}

fetch_kernel() {
   for tool in apt-get apt-cache dpkg-deb; do
      command -v $tool >/dev/null || fail "$tool is missing: kernels come as Debian packages"
   done
   [ -r /usr/share/keyrings/debian-archive-keyring.gpg ] ||
      fail "Debian's keys are missing; install debian-archive-keyring"
   url=$(mirror) || exit 1
   work=$cache/$1.new
   rm -rf "$work"
   mkdir -p "$work/lists/partial" "$work/apt/archives/partial" "$work/tree"
   printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$url" "$1" \
      /usr/share/keyrings/debian-archive-keyring.gpg > "$work/suite.sources"
   echo "Fetching the kernel of Debian $1 into $cache."
   apt apt-get update > "$work/log" 2>&1 ||
      { tail -n 3 "$work/log" >&2; fail "apt-get can't get the lists of $1: is there a network?"; }
   packages=$(kernel_packages "$1") || exit 1
   # shellcheck disable=SC2086
   (cd "$work" && apt apt-get download $packages) >> "$work/log" 2>&1 ||
      { tail -n 3 "$work/log" >&2; fail "apt-get can't download: $packages"; }
   for deb in "$work"/*.deb; do dpkg-deb -x "$deb" "$work/tree"; done
   # shellcheck disable=SC2086
   "$top/scripts/initrd.py" modules "$work/tree" "$work/modules" $modules
   mv "$(find "$work/tree" -name 'vmlinuz*' -type f | head -n 1)" "$work/vmlinuz"
   rm -rf "$work/tree" "$work/lists" "$work/apt" "$work"/*.deb "$cache/${1:?}"
   mv "$work" "$cache/$1"
}

# Boots a suite's kernel with the tests in its memory, and tells of them what the machine did.
run_kernel() {
   folder=$said/$suite.files
   mkdir "$folder"
   set -- "$@" "/init=$build/tests/kernel/kernel_init" "/modules=$cache/$suite/modules" "/tests/list=$said/list"
   for table in "$top"/tests/virtual/rows/*.tsv; do set -- "$@" "/tests/virtual/rows/${table##*/}=$table"; done
   "$top/scripts/initrd.py" pack "$folder/initrd" "$@"
   # The machine's clock counts instructions, and leaps where nothing is to be done: no load of this one makes tests late.
   # shellcheck disable=SC2086
   timeout 600 "$qemu" $machine -accel tcg -icount shift=1,sleep=off -m 512 -smp 2 -nographic -nodefaults -no-reboot -serial stdio \
      -device virtio-gpu-pci -kernel "$cache/$suite/vmlinuz" -initrd "$folder/initrd" \
      -append "console=$console quiet loglevel=3 panic=-1 no_timer_check ${KERNEL_ENV:-}" < /dev/null > "$folder/log" 2>&1 || true
   tr -d '\r' < "$folder/log" > "$folder/said"
   [ -z "${KERNEL_VERBOSE:-}" ] || cat "$folder/said"
   awk -v suite="$suite" '
      $1 == "@kernel" { printf "%s: Linux %s, up in %.1f s\n", suite, $2, $3 / 1000; next }
      $1 == "@begin" { name = $2; text = ""; next }
      $1 == "@end" {
         printf "%s: %-30s %s %5.1f s\n", suite, $2, $3 == 0 ? "ok    " : "FAILED", $4 / 1000
         if ($3 != 0) { printf "%sexit code %d\n", text, $3; bad = 1 }
         name = ""; next
      }
      $1 == "@done" { done = 1; next }
      $1 == "@trouble" { print suite ": " substr($0, 10); bad = 1; next }
      name != "" { text = text "   " $0 "\n"; if ($0 ~ /^row |rows as|skipped|SKIPPED/) print suite ":    " $0; next }
      { rest = rest $0 "\n" }
      END {
         if (!done) { printf "%s: the machine did not get to the end; it said:\n%s%s", suite, rest, text; bad = 1 }
         exit bad
      }' "$folder/said"
}

command -v "$qemu" >/dev/null || fail "$qemu is missing; install the package $package"
command -v ldd >/dev/null || fail "ldd is missing"
[ -x "$build/tests/kernel/kernel_init" ] || fail "$build has no tests; `make test-kernel` builds them"

set -- "$@"
if [ $# = 0 ]; then
   for test in $tests; do set -- "$@" "$build/tests/$test"; done
fi
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
programs=
for program; do
   path=${program%@*}
   name=/run/$(basename "$path")
   case $program in *@*) echo "$name ${program##*@}" ;; *) echo "$name" ;; esac >> "$said/list"
   case "$programs " in *" $name=$path "*) ;; *) programs="$programs $name=$path" ;; esac
done

for suite in $suites; do [ -e "$cache/$suite/vmlinuz" ] || fetch_kernel "$suite"; done

# All at once; what they say comes one after the other.
for suite in $suites; do
   # shellcheck disable=SC2086
   { run_kernel $programs > "$said/$suite" 2>&1 || touch "$said/$suite.failed"; } &
done
wait
result=0
for suite in $suites; do
   cat "$said/$suite"
   [ ! -e "$said/$suite.failed" ] || result=1
done
exit $result
