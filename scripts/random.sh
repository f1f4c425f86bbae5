#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random kernels: compiled without optimisation, with it, and by lavapipe, with the same
# results. Usage: random.sh TEST [COUNT [SEED]]
#    TEST   the built tests/system_test
#    COUNT  how many kernels (10000)
#    SEED   the first one (1)
# Where spirv-dis is installed, tests/random/interpret.py gives a third opinion on what differs.
#
# Environment:
#    PEER_ROOT    the folder of mesa.sh with a newer lavapipe (make test-mesa, as root); without
#                 it, this machine's own, where Vulkan's headers and lavapipe are installed
#    RANDOM_KEEP  a folder that keeps the kernels which failed, with manifest and our result
set -eu

test=$(realpath "$1") count=${2:-10000} seed=${3:-1}
top=$(cd "$(dirname "$0")/.." && pwd)
step=200 status=0 done=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

lavapipe=
for file in /usr/share/vulkan/icd.d/lvp_icd*.json; do [ -f "$file" ] && lavapipe=$file; done
if [ -n "${PEER_ROOT:-}" ]; then
   on_lavapipe() { "$top/scripts/mesa.sh" lavapipe "$1"; }
elif [ -n "$lavapipe" ] && pkg-config --exists vulkan; then
   # shellcheck disable=SC2046
   (cd "$top" && ${CC:-cc} -std=gnu11 -O1 -ffp-contract=off -D_GNU_SOURCE -Iinclude -Isrc -Itools/manifest -o "$work/vkcorpus" \
      tests/mesa/vkcorpus.c tests/mesa/vk_device.c tests/mesa/vk_kernel.c tools/manifest/manifest.c tools/manifest/inputs.c \
      src/base/status.c src/base/half.c $(pkg-config --cflags --libs vulkan) -lm)
   on_lavapipe() {
      VK_DRIVER_FILES=$lavapipe VK_ICD_FILENAMES=$lavapipe GALLIVM_PERF=nopt "$work/vkcorpus" --device llvmpipe --batch 50 "$1"
   }
else
   echo "random.sh: no lavapipe here (scripts/install-deps.sh bench), so results are compared among ourselves only"
   on_lavapipe() { :; }
fi

# The kernels that $work/out calls failed: who is wrong, and copies for whoever looks into them.
judge() {
   for name in $(sed -n 's/^kernel \([0-9]*\),.*/k\1/p; s/.* \(k[0-9]*\) .*FAIL.*/\1/p' "$work/out"); do
      [ -f "$work/kernels/$name.spv" ] || name=s${name#k}
      kernel=$work/kernels/$name result=$work/kernels/ref/$name.1.bin
      if command -v spirv-dis >/dev/null && command -v python3 >/dev/null; then
         "$top/tests/random/interpret.py" "$kernel.spv" "$result" > "$work/judged" 2>&1 &&
            echo "$name interpreted: as we have it" || echo "$name interpreted: $(tail -n 1 "$work/judged")"
      fi
      [ -n "${RANDOM_KEEP:-}" ] || continue
      mkdir -p "$RANDOM_KEEP/ref"
      cp "$kernel".* "$RANDOM_KEEP/"
      cp "$result" "$RANDOM_KEEP/ref/"
   done
}

while [ "$done" -lt "$count" ]; do
   n=$((count - done < step ? count - done : step))
   rm -rf "$work/kernels"
   mkdir -p "$work/kernels/ref"
   AGX_RANDOM_KERNELS=$n AGX_RANDOM_SEED=$((seed + done)) AGX_RANDOM_SAVE="$work/kernels" "$test" random > "$work/out" 2>&1 ||
      { grep '^kernel' "$work/out" || cat "$work/out"; status=1; judge; }
   if ls "$work/kernels/"*.txt >/dev/null 2>&1; then
      on_lavapipe "$work/kernels" > "$work/out" 2>&1 ||
         { grep -B 1 'FAIL' "$work/out" || tail -3 "$work/out"; status=1; judge; }
   fi
   done=$((done + n))
   echo "$done of $count kernels"
done
[ $status = 0 ] && echo "all agree"
exit $status
