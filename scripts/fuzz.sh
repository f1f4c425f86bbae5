#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Fuzzes what reads data of strangers, with libFuzzer (clang) under ASan and UBSan, one target after the other. Inputs that reach
# something new are kept between runs, outside of the tree.
#
#    fuzz.sh [--seconds N] [--executions N] [--corpus DIR] [TARGET...]
#
#    --seconds      how long each target runs; default 600, none where --executions is given
#    --executions   how many inputs each takes at most
#    --corpus       where inputs are kept; default ~/.cache/agxhal-fuzz
#    TARGET         capture replay elf inject isa spirv sim iree; default all
#
# What is found lies in the corpus folder as FOUND-TARGET-*, and `build-fuzz/tests/fuzz/TARGET_fuzz FILE` shows it again.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build-fuzz
corpus=${XDG_CACHE_HOME:-$HOME/.cache}/agxhal-fuzz
seconds=0 executions=-1 targets=()

fail() { echo "fuzz.sh: $*" >&2; exit 2; }

number() { [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "$1 ${2:-}: a number from 1 on is wanted"; }

while [ $# -gt 0 ]; do
   case $1 in
   --seconds) number "$@"; seconds=$2; shift 2 ;;
   --executions) number "$@"; executions=$2; shift 2 ;;
   --corpus) [ $# -gt 1 ] || fail "$1: its value is missing"; corpus=$2; shift 2 ;;
   capture|replay|elf|inject|isa|spirv|sim|iree) targets+=("$1"); shift ;;
   *) fail "unexpected \"$1\"; targets: capture replay elf inject isa spirv sim iree" ;;
   esac
done
[ "$seconds" -gt 0 ] || [ "$executions" -gt 0 ] || seconds=600
[ ${#targets[@]} -gt 0 ] || targets=(capture replay elf inject isa spirv sim iree)

# Lines "HEX TEXT" as tests/fuzz/fuzz_main.c takes them: a first byte 0 and the bytes, or 1 and the text.
lines() {
   python3 - "$1" "$2" <<'END'
import pathlib, sys
lines = [line for line in pathlib.Path(sys.argv[1]).read_text().splitlines() if line and line[0] != '#']
for number, line in enumerate(lines):
    code, _, text = line.partition(' ')
    folder = pathlib.Path(sys.argv[2])
    (folder / f'seed-{number}-bytes').write_bytes(b'\0' + bytes.fromhex(code))
    (folder / f'seed-{number}-text').write_bytes(b'\1' + text.strip().encode())
END
}

seed() {
   case $1 in
   capture|replay) cp "$top"/tests/golden/*.capture "$2" ;;
   inject) lines "$top/tests/fuzz/inject_seeds.txt" "$2" ;;
   isa|sim) lines "$top/tests/agx/isa_vectors.txt" "$2" ;;
   spirv) cp "$top"/tests/corpus/*.spv "$top"/tests/compiler/spv/*.spv "$2" ;;
   iree) cp "$top"/tests/iree/*.bin "$2" ;;
   elf) ;; # it makes its own
   esac
   if [ -d "$top/tests/fuzz/found/$1" ]; then cp "$top/tests/fuzz/found/$1"/* "$2"; fi
}

[ -f "$build/build.ninja" ] ||
   CC=clang meson setup "$build" "$top" ${CI:+--werror} --wrap-mode=nodownload -Doptimization=2 -Dfuzzing=true \
      -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
programs=("${targets[@]/#/tests/fuzz/}")
ninja -C "$build" --quiet "${programs[@]/%/_fuzz}"

result=0
for target in "${targets[@]}"; do
   folder=$corpus/$target
   mkdir -p "$folder"
   seed "$target" "$folder"
   options=(-runs="$executions" -max_total_time="$seconds" -timeout=60 -entropic=0 -print_final_stats=1
            -artifact_prefix="$corpus/FOUND-$target-")
   case $target in capture|replay) options+=(-max_len=32768) ;; esac
   if UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
      "$build/tests/fuzz/${target}_fuzz" "${options[@]}" "$folder" 2>"$corpus/$target.log"; then
      printf '%-8s %s executions, %s inputs kept\n' "$target" \
         "$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus/$target.log")" "$(ls "$folder" | wc -l)"
   else
      tail -n 60 "$corpus/$target.log"
      echo "$target: found something; the whole report: $corpus/$target.log"
      result=1
   fi
done
exit $result
