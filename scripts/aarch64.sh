#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs the tests of a build for aarch64 in a machine that QEMU makes up: Debian's kernel for 16 KiB pages, which are
# Apple's, and Debian's programs, all from packages. The machine reads this checkout where it lies. docs/decisions/0035 says why.
#
#    aarch64.sh             every suite; exit code 0 when each test passes
#    aarch64.sh SUITE...    only these, such as winsys. ROOM/NAME is a single test, such as hal/hal_fork
#
# What has passed on the same sources isn't run again: a run that was cut off goes on where it stopped.
#
# Environment:
#    BUILD            the build folder; default build-aarch64
#    AARCH64_CACHE    where machine and results are kept; default ~/.cache/agxhal-aarch64. Remove it to get newer packages
#    AARCH64_MIRROR   where packages come from; default what this machine's apt uses
#    AARCH64_KERNEL   the Debian suite whose kernel runs; default trixie, the first with one for 16 KiB pages
#    AARCH64_CPUS     processors of the machine, and how many tests run at a time; default those of this one
#    AARCH64_SLOWER   how many times a test's own limit of time it may take; default 20
#    AARCH64_AGAIN    1: also run what has passed
#    AARCH64_VERBOSE  1: show what the machine says
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build-aarch64}
cache=${AARCH64_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/agxhal-aarch64}
kernel_suite=${AARCH64_KERNEL:-trixie}
cpus=${AARCH64_CPUS:-$(nproc)}
modules="virtio_pci 9pnet_virtio 9p overlay"
# What tests call, and the libraries that `install-deps.sh aarch64` installs to link with.
packages="bash libc-bin coreutils diffutils sed grep gawk findutils binutils procps libc6 libnettle8 libzstd1 libcmocka0 libdrm2 libpng-dev
   gcc g++ libc6-dev make pkg-config glslang-tools meson"

fail() { echo "aarch64.sh: $*" >&2; exit 1; }

. "$top/scripts/debian.sh"

# ---- the machine: $cache/machine ---------------------------------------------------------------------------------------

# apt for arm64, with lists of its own for one suite; this machine's are not touched.
apt() {
   suite=$1 tool=$2; shift 2
   lists=$work/$suite
   mkdir -p "$lists/lists/partial" "$lists/apt/archives/partial"
   printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$url" "$suite" \
      /usr/share/keyrings/debian-archive-keyring.gpg > "$lists/suite.sources"
   "$tool" -q -o Dir::Etc::SourceList="$lists/suite.sources" -o Dir::Etc::SourceParts=/dev/null \
      -o Dir::State::Lists="$lists/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$lists/apt" \
      -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" \
      -o Acquire::Languages=none "$@"
}

# Downloads packages with all that they need, and unpacks them into a folder. None is installed: their scripts don't run.
unpack() {
   folder=$1 suite=$2; shift 2
   apt "$suite" apt-get update >> "$work/log" 2>&1 ||
      { tail -n 3 "$work/log" >&2; fail "apt-get can't get the lists of $suite: is there a network?"; }
   apt "$suite" apt-get install -y --no-install-recommends --download-only "$@" >> "$work/log" 2>&1 ||
      { tail -n 3 "$work/log" >&2; fail "apt-get can't download: $*"; }
   mkdir -p "$folder/usr/bin" "$folder/usr/sbin" "$folder/usr/lib"
   for alias in bin sbin lib; do ln -s "usr/$alias" "$folder/$alias"; done
   for deb in "$work/$suite"/apt/archives/*.deb; do
      dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$folder"
   done
   rm -f "$work/$suite"/apt/archives/*.deb
}

# The programs are of this machine's release, whose libraries the tests are linked with.
fetch_machine() {
   for tool in apt-get apt-cache dpkg-deb; do
      command -v $tool >/dev/null || fail "$tool is missing: the machine is made of Debian packages"
   done
   [ -r /usr/share/keyrings/debian-archive-keyring.gpg ] || fail "Debian's keys are missing; install debian-archive-keyring"
   release=$(. /etc/os-release; echo "${VERSION_CODENAME:-sid}")
   url=$(debian_mirror "${AARCH64_MIRROR:-}") || fail "apt's lists name no Debian mirror; give one in AARCH64_MIRROR"
   work=$cache/machine.new
   rm -rf "$work"
   mkdir -p "$work"
   echo "Making a machine of Debian $release's packages and $kernel_suite's kernel in $cache."
   unpack "$work/boot" "$release" busybox-static
   # shellcheck disable=SC2086
   unpack "$work/root" "$release" $packages
   ln -sf bash "$work/root/bin/sh"
   apt "$kernel_suite" apt-get update >> "$work/log" 2>&1 || fail "apt-get can't get the lists of $kernel_suite"
   image=$(apt "$kernel_suite" apt-cache show linux-image-arm64-16k |
      sed -n 's/^Depends:.*\(linux-image-[0-9][^ ,]*\).*/\1/p' | head -n 1)
   [ -n "$image" ] || fail "$kernel_suite has no linux-image-arm64-16k"
   parts=$(apt "$kernel_suite" apt-cache show "$image" | sed -n 's/^\(Pre-\)*Depends: //p' | tr ',' '\n' |
      sed -n 's/^ *\(linux-\(binary\|modules\)-[0-9][^ ]*\).*/\1/p' | sort -u)
   # shellcheck disable=SC2086
   (cd "$work" && apt "$kernel_suite" apt-get download $image $parts) >> "$work/log" 2>&1 ||
      { tail -n 3 "$work/log" >&2; fail "apt-get can't download: $image $parts"; }
   for deb in "$work"/linux-*.deb; do dpkg-deb -x "$deb" "$work/tree"; done
   # shellcheck disable=SC2086
   "$top/scripts/initrd.py" modules "$work/tree" "$work/modules" $modules
   mv "$(find "$work/tree" -name 'vmlinuz*' -type f | head -n 1)" "$work/vmlinuz"
   mv "$work/boot/usr/bin/busybox" "$work/busybox"
   rm -rf "$work/tree" "$work/boot" "$work/${kernel_suite:?}" "$work/${release:?}" "$work"/*.deb "$cache/machine"
   mv "$work" "$cache/machine"
}

# ---- one run of the machine --------------------------------------------------------------------------------------------

# Boots with a list of tests, which leave their results in $results; sets $boots to how often.
boot() {
   root=$cache/machine/root
   mkdir -p "$root$top" "$root/checkout" "$root/results" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/run"
   "$top/scripts/initrd.py" pack "$state/initrd" "/init=$top/scripts/aarch64_init.sh" "/bin/busybox=$cache/machine/busybox" \
      "/modules=$cache/machine/modules"
   # The processor is one with M1's page sizes; SVE, which that lacks, is off, and pointer signatures are cheap ones.
   timeout "$1" qemu-system-aarch64 -M virt -cpu max,sve=off,pauth-impdef=on -accel tcg,thread=multi -smp "$cpus" \
      -m 6144 -nographic -nodefaults -no-reboot -serial stdio -kernel "$cache/machine/vmlinuz" -initrd "$state/initrd" \
      -virtfs "local,path=$root,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
      -virtfs "local,path=$top,mount_tag=top,security_model=none,readonly=on,multidevs=remap" \
      -virtfs "local,path=$results,mount_tag=results,security_model=none,multidevs=remap" \
      -append "console=ttyAMA0 quiet loglevel=3 panic=-1 agx_top=$top agx_cpus=$cpus" \
      < /dev/null > "$state/said" 2>&1 || true
   [ -z "${AARCH64_VERBOSE:-}" ] || cat "$state/said"
}

command -v qemu-system-aarch64 >/dev/null || fail "qemu-system-aarch64 is missing; install the package qemu-system-arm"
[ -f "$build/build.ninja" ] || fail "$build is no build folder; \`make test-aarch64\` makes it"
mkdir -p "$cache"
[ -e "$cache/machine/vmlinuz" ] || fetch_machine

# The sources as they lie here, as git would store them.
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
tree=$(cd "$top" && export GIT_INDEX_FILE="$state/index" &&
   git add -A -- include src tests tools examples meson.build meson_options.txt && git write-tree)
results=$cache/results/$tree
mkdir -p "$results"

"$top/scripts/aarch64_tests.py" "$build" "$results" "${AARCH64_SLOWER:-20}" "${AARCH64_AGAIN:-}" "$@" > "$state/suites"
status=0
while read -r suite count seconds; do
   rm -f "$results/list"
   cp "$results/$suite.list" "$results/list"
   echo "$suite: $count tests"
   begin=$(date +%s)
   [ "$count" = 0 ] || boot "$seconds"
   "$top/scripts/aarch64_tests.py" --report "$results" "$suite" $(($(date +%s) - begin)) "$state/said" || status=1
done < "$state/suites"
exit $status
