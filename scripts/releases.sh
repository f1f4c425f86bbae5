#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs README's two commands as a newcomer does, in fresh folders with Debian's releases that hold make and git alone, once
# with GCC and once with clang. Needs root; packages come from the network.
#
#    releases.sh            all of them; exit code 0 when each passes
#    releases.sh RELEASE... only these, such as trixie
#
# Environment:
#    RELEASES_ROOT      where the folders are made; default ~/.cache/agx-releases. What debootstrap makes is kept there, the
#                       folder in which the commands run is made anew each time, and removed unless they fail
#    RELEASES_MIRROR    where packages come from; default what this machine's apt uses
#    RELEASES_COMPILERS of gcc clang (default: both)
#    RELEASES_COMMANDS  default "run test", README's
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
cache=${RELEASES_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/agx-releases}
releases=${*:-bookworm trixie sid}
compilers=${RELEASES_COMPILERS:-gcc clang}
commands=${RELEASES_COMMANDS:-run test}

fail() { echo "releases.sh: $*" >&2; exit 1; }

. "$top/scripts/debian.sh"

# In a mount namespace of its own, so that nothing stays mounted in the folder. Packages that were fetched are kept.
inside() {
   root=$1; shift
   unshare --mount --pid --fork --kill-child --propagation private sh -eu -c '
      root=$1 packages=$2; shift 2
      mount -t proc proc "$root/proc"
      mount --rbind /dev "$root/dev"
      mount --bind "$packages" "$root/var/cache/apt/archives"
      exec chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C TMPDIR=/tmp "$@"' \
      sh "$root" "$cache/packages" "$@"
}

base() {
   [ ! -f "$cache/$1.made" ] || return 0
   rm -rf "$cache/$1"
   echo "Making a folder with Debian $1 in $cache/$1."
   url=$(debian_mirror "${RELEASES_MIRROR:-}") || fail "apt's lists name no Debian mirror; give one in RELEASES_MIRROR"
   debootstrap --variant=minbase --include=make,git,ca-certificates "$1" "$cache/$1" "$url" ||
      fail "debootstrap failed; its log: $cache/$1/debootstrap/debootstrap.log"
   debian_settings "$cache/$1"
   # Keeps what it fetches.
   rm -f "$cache/$1/etc/apt/apt.conf.d/docker-clean"
   : > "$cache/$1.made"
}

# One compiler on one release; its log lies beside the folder.
try() {
   release=$1 compiler=$2
   folder="$cache/$release-$compiler" log="$cache/$release-$compiler.log"
   rm -rf "$folder"
   cp -a --reflink=auto "$cache/$release" "$folder"
   git -C "$top" bundle create -q "$folder/root/agxhal.bundle" HEAD
   begin=$(date +%s)
   inside "$folder" sh -eu -c '
      compiler=$1; shift
      git clone -q /root/agxhal.bundle /root/agxhal
      cd /root/agxhal
      if [ "$compiler" = clang ]; then apt-get update -q; scripts/install-deps.sh fuzz; fi
      export CC=$compiler
      for command; do make "$command"; done' sh "$compiler" $commands > "$log" 2>&1 || {
      printf '%-10s %-6s FAILED after %d s, see %s; the folder stays: %s\n' "$release" "$compiler" $(($(date +%s) - begin)) "$log" "$folder"
      tail -n 30 "$log"
      return 1
   }
   printf '%-10s %-6s passed in %d s\n' "$release" "$compiler" $(($(date +%s) - begin))
   rm -rf "$folder"
}

[ "$(id -u)" = 0 ] || fail "making folders with Debian takes root"
"$top/scripts/install-deps.sh" mesa
mkdir -p "$cache/packages/partial"
status=0
for release in $releases; do
   base "$release"
   for compiler in $compilers; do try "$release" "$compiler" || status=1; done
done
exit $status
