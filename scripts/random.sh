#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random kernels: compiled without optimisation, with it, and by lavapipe (where Vulkan's headers
# and lavapipe are installed), with the same results. Usage: random.sh TEST [COUNT [SEED]]
#    TEST   the built tests/random/random_test
#    COUNT  how many kernels (10000)
#    SEED   the first one (1)
set -eu

test=$(realpath "$1") count=${2:-10000} seed=${3:-1}
top=$(cd "$(dirname "$0")/.." && pwd)
step=200 status=0 done=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

lavapipe=
for file in /usr/share/vulkan/icd.d/lvp_icd*.json; do [ -f "$file" ] && lavapipe=$file; done
if [ -n "$lavapipe" ] && pkg-config --exists vulkan; then
   # shellcheck disable=SC2046
   (cd "$top" && ${CC:-cc} -std=gnu11 -O1 -ffp-contract=off -D_GNU_SOURCE -Iinclude -Isrc -Itools/manifest -o "$work/vkcorpus" \
      tests/mesa/vkcorpus.c tests/mesa/vk_device.c tests/mesa/vk_kernel.c tools/manifest/manifest.c tools/manifest/inputs.c \
      src/base/status.c src/base/half.c $(pkg-config --cflags --libs vulkan) -lm)
else
   echo "random.sh: no lavapipe here (scripts/install-deps.sh bench), so results are compared among ourselves only"
fi

while [ "$done" -lt "$count" ]; do
   n=$((count - done < step ? count - done : step))
   rm -rf "$work/kernels"
   mkdir -p "$work/kernels/ref"
   AGX_RANDOM_KERNELS=$n AGX_RANDOM_SEED=$((seed + done)) AGX_RANDOM_SAVE="$work/kernels" "$test" > "$work/out" 2>&1 ||
      { grep '^kernel' "$work/out" || cat "$work/out"; status=1; }
   if [ -x "$work/vkcorpus" ] && ls "$work/kernels/"*.txt >/dev/null 2>&1; then
      VK_DRIVER_FILES=$lavapipe VK_ICD_FILENAMES=$lavapipe "$work/vkcorpus" --device llvmpipe "$work/kernels" > "$work/out" 2>&1 ||
         { grep 'FAIL' "$work/out" || tail -3 "$work/out"; status=1; }
   fi
   done=$((done + n))
   echo "$done of $count kernels"
done
[ $status = 0 ] && echo "all agree"
exit $status
