#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs Debian sid's own Mesa on the virtual AGX: a folder with sid is made once, then
# vulkaninfo and every kernel of tests/corpus run there under `agx virtual`.
#
#    mesa.sh setup          makes the folder (about 700 MB, a few minutes), or completes it
#    mesa.sh test           does that, then the test; exit code 0 when every kernel matches
#    mesa.sh race FOLDER    runs the kernels once each with statistics, for scripts/race.py
#    mesa.sh wide FOLDER    runs the kernels that FOLDER/list names, with statistics and outputs, for scripts/wide
#    mesa.sh host           prints what recording and submitting cost it, as JSON, and what they cost us
#    mesa.sh lavapipe FOLDER  runs the kernels of a folder (like tests/corpus) on sid's lavapipe
#    mesa.sh graphics [FILE]  records vkcube (on a display in memory) and has agxdump name every word of it
#    mesa.sh run COMMAND... runs a command in the folder, with Honeykrisp as the Vulkan driver
#
# Environment:
#    PEER_ROOT      the folder; default ~/.cache/agx-peer/sid
#    MESA_MIRROR    where packages come from; default what this machine's apt uses
#    MESA_MODES     of plain robust check chaos images (default: these) chaosSEED seccomp. images: what Honeykrisp
#                   reads from and writes to images, compared with lavapipe
#    MESA_KERNELS   only these kernels
#    MESA_IMAGES    only image cases whose name contains this
#    MESA_CHIP      chip of the virtual AGX; default g13g
#    MESA_BIND      folders and files that the folder shall have in the same places, for a command
#    MESA_JSON      a file for the results
#    OUT            the installed tree; default out
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
out=${OUT:-$top/out}
root=${PEER_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/agx-peer/sid}
chip=${MESA_CHIP:-g13g}
packages="mesa-vulkan-drivers libvulkan-dev vulkan-tools gcc libc6-dev libdrm2 glslang-tools"

fail() { echo "mesa.sh: $*" >&2; exit 1; }

. "$top/scripts/debian.sh"

# In a mount namespace of its own, so that nothing stays mounted in the folder.
inside() {
   unshare --mount --propagation private sh -eu -c '
      root=$1 top=$2 out=$3 work=$4; shift 4
      mkdir -p "$root/agxhal/source" "$root/agxhal/out" "$root/agxhal/work"
      mount -t proc proc "$root/proc"
      mount --rbind /dev "$root/dev"
      mount --bind "$top" "$root/agxhal/source"
      [ ! -d "$out" ] || mount --bind "$out" "$root/agxhal/out"
      for path in ${MESA_BIND:-}; do
         if [ -d "$path" ]; then mkdir -p "$root$path"; else mkdir -p "$root$(dirname "$path")"; touch "$root$path"; fi
         mount --bind "$path" "$root$path"
      done
      mount --bind "$work" "$root/agxhal/work"
      exec chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C \
         TMPDIR=/tmp MESA_SHADER_CACHE_DISABLE=1 VK_LOADER_LAYERS_DISABLE="~implicit~" \
         VK_DRIVER_FILES=/usr/share/vulkan/icd.d/asahi_icd.json VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/asahi_icd.json \
         AGX_DEBUG="${AGX_DEBUG:-}" "$@"' sh "$root" "$top" "$out" "$work" "$@"
}

install_inside() { inside env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"; }

setup() {
   if [ ! -x "$root/usr/bin/dpkg" ]; then
      "$top/scripts/install-deps.sh" mesa
      mkdir -p "$root"
      echo "Making a folder with Debian sid in $root."
      url=$(debian_mirror "${MESA_MIRROR:-}") || fail "apt's lists name no Debian mirror; give one in MESA_MIRROR"
      debootstrap --variant=minbase sid "$root" "$url" || fail "debootstrap failed; its log: $root/debootstrap/debootstrap.log"
      debian_settings "$root"
   fi
   missing=
   for package in $packages; do
      grep -A1 "^Package: $package\$" "$root/var/lib/dpkg/status" | grep -q '^Status: install ok installed' ||
         missing="$missing $package"
   done
   if [ -n "$missing" ]; then
      echo "Installing there:$missing"
      # The lists that debootstrap left are good enough, and may be all there is.
      # shellcheck disable=SC2086
      install_inside $missing || { inside apt-get update -q && install_inside $missing; } ||
         fail "apt-get could not install:$missing"
   fi
   [ -f "$root/usr/share/vulkan/icd.d/asahi_icd.json" ] ||
      fail "sid's mesa-vulkan-drivers of this architecture ($(uname -m)) has no Honeykrisp"
}

build_runner() {
   inside sh -eu -c 'cd /agxhal/source && gcc -std=gnu11 -O2 -ffp-contract=off -Wall -D_GNU_SOURCE \
      -Iinclude -Isrc -Itools/manifest -o /agxhal/work/vkcorpus \
      tests/mesa/vkcorpus.c tests/mesa/vk_device.c tests/mesa/vk_kernel.c \
      tools/manifest/manifest.c tools/manifest/inputs.c src/base/status.c src/base/half.c -lvulkan -lm'
}

build_images() {
   inside sh -eu -c 'cd /agxhal/source && gcc -std=gnu11 -O2 -ffp-contract=off -Wall -D_GNU_SOURCE \
      -Iinclude -Isrc -Itools/manifest -o /agxhal/work/vkimages \
      tests/mesa/vkimages.c tests/mesa/image_data.c tests/mesa/image_cases.c tests/mesa/image_stores.c \
      tests/mesa/image_run.c \
      tests/mesa/vk_device.c src/base/status.c -lvulkan -lm && mkdir -p /agxhal/work/shaders &&
      gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -Iinclude -Isrc -Itools/manifest -o /agxhal/work/vkclears \
      tests/mesa/vkclears.c tests/mesa/vk_device.c src/base/status.c -lvulkan'
}

agx() { inside /agxhal/out/bin/agx "$@"; }

# Options of agx virtual, and of vkcorpus after a slash.
mode_options() {
   case $1 in
   plain) echo "/" ;;
   robust) echo "--strict/--robust" ;;
   check) echo "--check --strict/" ;;
   chaos) echo "--chaos 1/" ;;
   chaos[0-9]*) echo "--chaos ${1#chaos}/" ;;
   seccomp) echo "--seccomp/" ;;
   *) fail "MESA_MODES: there is no mode $1 (plain robust check chaos images chaosSEED seccomp)" ;;
   esac
}

# Lavapipe's answers first, then Honeykrisp's beside them.
run_images() {
   lavapipe=/usr/share/vulkan/icd.d/lvp_icd.json status=0
   cases="--cache /agxhal/work/shaders"
   [ -f "$root$lavapipe" ] || { echo "images: sid's mesa-vulkan-drivers here has no lavapipe" >&2; return 1; }
   build_images
   echo "--- images: lavapipe, then agx virtual --chip $chip --check --strict"
   # shellcheck disable=SC2086
   inside env VK_DRIVER_FILES=$lavapipe VK_ICD_FILENAMES=$lavapipe /agxhal/work/vkimages $cases \
      --only "${MESA_IMAGES:-}" --keep /agxhal/work/images.bin || return 1
   # shellcheck disable=SC2086
   agx virtual --chip "$chip" --check --strict -- /agxhal/work/vkimages $cases \
      --only "${MESA_IMAGES:-}" --compare /agxhal/work/images.bin 2> "$work/images.err" || status=1
   agx virtual --chip "$chip" --check --strict -- /agxhal/work/vkclears 2>> "$work/images.err" || status=1
   cat "$work/images.err" >&2
   grep -q '^agx virtual:' "$work/images.err" && return 1 # a client may not notice
   return $status
}

# One row a kernel, a column for each mode; then the words of what failed.
table() {
   awk -F'\t' -v modes="$modes" '
      BEGIN { n = split(modes, mode, " "); printf "\n%-24s", "kernel"; for (i = 1; i <= n; i++) printf "%-10s", mode[i]; print "" }
      FNR == 1 { at++ }
      !($1 in seen) { seen[$1] = 1; names[++count] = $1 }
      { verdict[$1, at] = $2; if ($2 == "FAIL") { failed[at]++; words = words $1 ", " mode[at] ": " $4 "\n" } else good[at]++ }
      END {
         for (k = 1; k <= count; k++) { printf "%-24s", names[k]; for (i = 1; i <= n; i++) printf "%-10s", verdict[names[k], i]; print "" }
         printf "%-24s", "match"; for (i = 1; i <= n; i++) printf "%-10s", (good[i] + 0) "/" (good[i] + failed[i]); print ""
         if (words) printf "\n%s", words
      }' "$@"
}

json() {
   awk -F'\t' -v modes="$modes" -v device="$device" '
      function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
      BEGIN { split(modes, mode, " "); printf "{\"device\": %s, \"runs\": [", quoted(device) }
      FNR == 1 { at++ }
      { printf "%s\n  {\"mode\": %s, \"kernel\": %s, \"verdict\": %s, \"ms\": %s, \"words\": %s}", (NR > 1 ? "," : ""), quoted(mode[at]), quoted($1), quoted($2), $3, quoted($4) }
      END { print "\n]}" }' "$@"
}

run_test() {
   [ -x "$out/bin/agx" ] || fail "$out/bin/agx is missing: make build"
   words=$(agx virtual --chip "$chip" -- true 2>&1) ||
      fail "what was built here does not run on sid ($words). Where this system is newer than sid, build inside the folder."
   build_runner
   device=$(agx virtual --chip "$chip" -- vulkaninfo --summary 2>/dev/null | sed -n 's/^[[:space:]]*deviceName *= *//p' | head -n 1)
   case $device in
   Apple*) echo "vulkaninfo: $device" ;;
   *) fail "vulkaninfo names no Apple GPU, but: ${device:-nothing}" ;;
   esac
   modes=${MESA_MODES:-plain robust check chaos images} status=0 files= said=
   case " $modes " in *" images "*) run_images && status=0 || status=1 ;; esac
   modes=$(echo "$modes" | sed 's/\<images\>//')
   for mode in $modes; do
      options=$(mode_options "$mode")
      echo "--- $mode: agx virtual --chip $chip ${options%%/*}"
      # shellcheck disable=SC2086
      agx virtual --chip "$chip" ${options%%/*} -- /agxhal/work/vkcorpus ${options#*/} --tsv "/agxhal/work/$mode.tsv" \
         /agxhal/source/tests/corpus ${MESA_KERNELS:-} 2> "$work/$mode.err" || status=1
      cat "$work/$mode.err" >&2
      if grep -q '^agx virtual:' "$work/$mode.err"; then # a client may not notice
         said="$said $mode" status=1
      fi
      files="$files $work/$mode.tsv"
      [ -s "$work/$mode.tsv" ] || fail "the run left no results"
   done
   [ -n "$files" ] || return $status
   # shellcheck disable=SC2086
   table $files
   [ -z "$said" ] || echo "The virtual AGX complained in:$said (above)."
   # shellcheck disable=SC2086
   [ -z "${MESA_JSON:-}" ] || json $files > "$MESA_JSON"
   return $status
}

# Statistics of each kernel under Honeykrisp: a file of JSON lines for each in the folder, and
# corpus.tsv with verdicts, compile times and the driver's own statistics.
run_race() {
   folder=$1
   mkdir -p "$folder" "$work/race"
   build_runner
   kernels=${MESA_KERNELS:-$(cd "$top/tests/corpus" && ls ./*.txt | sed 's,^\./,,; s,\.txt$,,')}
   : > "$folder/corpus.tsv"
   for kernel in $kernels; do
      rm -f "$work/race/stats" # it would be added to
      agx virtual --chip "$chip" --stats=/agxhal/work/race/stats --json -- /agxhal/work/vkcorpus --best "${RACE_BEST:-25}" \
         --tsv /agxhal/work/race/tsv /agxhal/source/tests/corpus "$kernel" >/dev/null 2> "$work/race.err" ||
         { cat "$work/race.err" >&2; fail "$kernel does not match, so its figures would mean nothing"; }
      cp "$work/race/stats" "$folder/$kernel.json"
      cat "$work/race/tsv" >> "$folder/corpus.tsv"
   done
}

# For each kernel NAME.spv of the list, with NAME.txt: NAME.tsv as of vkcorpus, NAME.stats, the outputs, and NAME.err,
# which says what the virtual AGX complained of. With WIDE_CHAOS=SEED in random order, without statistics. The
# limit on instructions keeps launches that don't end short.
run_wide() {
   [ -x "$work/vkcorpus" ] || build_runner
   inside sh -c 'cd /agxhal/work && while read -r kernel; do
      AGX_VIRTUAL_TIMEOUT=$1 /agxhal/out/bin/agx virtual --chip $2 ${4:---stats=$kernel.stats --json} -- ./vkcorpus --best $3 --limit 60 \
         --tsv $kernel.tsv --dump . . $kernel >/dev/null 2>$kernel.err </dev/null
   done < list' sh "${WIDE_INSTRUCTIONS:-200000}" "$chip" "${RACE_BEST:-3}" \
      "${WIDE_CHAOS:+--chaos $WIDE_CHAOS}"
}

# Both in the folder, over the preloaded virtual AGX with execution switched off: two JSON objects.
run_host() {
   inside sh -eu -c 'cd /agxhal/source && gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -rdynamic \
      -Iinclude -Isrc -Itools/manifest -o /agxhal/work/vkhost \
      tests/mesa/vkhost.c tests/mesa/vk_device.c src/base/status.c -lvulkan -ldl'
   inside env AGX_VIRTUAL_EXECUTE=0 /agxhal/out/bin/agx virtual --chip "$chip" -- \
      /agxhal/work/vkhost /agxhal/source/tests/corpus/saxpy.spv
   inside env AGX_VIRTUAL_EXECUTE=0 AGX_DEBUG=trust /agxhal/out/bin/agx virtual --chip "$chip" -- \
      /agxhal/out/bin/agx bench --only host --device drm --json --corpus /agxhal/source/tests/corpus
}

# Somebody else's kernels on the processor; no virtual AGX is needed. LLVM's optimisations (15 and
# 22) get some random kernels wrong, and die of others.
run_lavapipe() {
   icd=/usr/share/vulkan/icd.d/lvp_icd.json
   [ -f "$root$icd" ] || fail "sid's mesa-vulkan-drivers here has no lavapipe"
   cp -r "$1" "$work/kernels"
   build_runner
   inside env VK_DRIVER_FILES=$icd VK_ICD_FILENAMES=$icd GALLIVM_PERF=nopt /agxhal/work/vkcorpus --device llvmpipe --batch 50 \
      /agxhal/work/kernels
}

# The device takes render commands and fails their fences, which vkcube doesn't mind.
run_graphics() {
   inside sh -c 'command -v Xvfb' >/dev/null || install_inside xvfb
   inside env MESA_VK_WSI_DEBUG=sw XDG_RUNTIME_DIR=/tmp sh -eu -c '
      Xvfb -displayfd 3 -screen 0 640x480x24 -ac -nolisten tcp 3>/agxhal/work/display 2>/dev/null & server=$!
      trap "kill $server" EXIT
      for i in 1 2 3 4 5 6 7 8 9 10; do [ -s /agxhal/work/display ] && break; sleep 1; done
      export DISPLAY=:$(cat /agxhal/work/display)
      /agxhal/out/bin/agxdump record -o /agxhal/work/vkcube.cap -- vkcube --c 3' >"$work/text" 2>&1 ||
      { cat "$work/text" >&2; fail "vkcube was not recorded"; }
   "$out/bin/agxdump" show "$work/vkcube.cap" >"$work/shown"
   renders=$(grep -c '^  command [0-9]*, render:' "$work/shown") || fail "vkcube submitted no render command"
   [ -z "${1:-}" ] || cp "$work/vkcube.cap" "$1"
   ! grep -n '!' "$work/shown" || fail "agxdump show can't tell what these words are"
   echo "mesa.sh: $renders render commands, $(wc -l <"$work/shown") lines, every word named"
}

[ $# -gt 0 ] || { sed -n '3,26s/^# \{0,1\}//p' "$0"; exit 2; }
[ "$(id -u)" = 0 ] || fail "a folder with another system needs root (debootstrap, mount, chroot): sudo $0 $*"
command -v unshare >/dev/null || "$top/scripts/install-deps.sh" mesa
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command=$1
shift
if [ "$command" = wide ]; then # what the kernels leave stays there
   rmdir "$work"
   trap - EXIT
   work=$(realpath "${1:?a folder with kernels}")
fi
case $command in
setup) setup ;;
test) setup && run_test ;;
run) inside "$@" ;;
host) setup >&2 && run_host ;;
race) setup >&2 && run_race "${1:?a folder for the figures}" ;;
wide) setup >&2 && run_wide ;;
graphics) setup >&2 && run_graphics "${1:-}" ;;
lavapipe) setup >&2 && run_lavapipe "${1:?a folder with kernels}" ;;
*) fail "$command: there is no such command (setup, test, race, wide, host, graphics, lavapipe, run)" ;;
esac
