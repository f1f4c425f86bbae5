#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the .spv files of this folder anew. Needs glslang 13 or newer (GL_KHR_cooperative_matrix)
# and spirv-tools; what it makes is committed.
set -e
cd "$(dirname "$0")"
glsl="${GLSLANG:-glslang} -V --target-env vulkan1.3 --quiet"
for t in bool uint int float float16_t uint64_t int64_t; do
   $glsl -DT_$t subgroup.comp -o subgroup_$t.spv
done
for t in uint8_t int8_t uint16_t int16_t; do
   $glsl -DTYPE=$t subgroup.comp -o subgroup_$t.spv
done
${GLSLANG:-glslang} -V --target-env vulkan1.0 --quiet subgroup_old.comp -o subgroup_old.spv
# Rotations, which this glslang does not know: shuffles become those over 32 lanes, xor
# shuffles those in clusters of 8.
disassemble="${SPIRV_DIS:-spirv-dis} --raw-id" assemble="${SPIRV_AS:-spirv-as} --target-env spv1.6"
eight=$($disassemble subgroup_uint.spv | sed -n 's/^ *\(%[0-9]*\) = OpConstant %[0-9]* 8$/\1/p' | head -n 1)
$disassemble subgroup_uint.spv | sed -e "s/OpCapability GroupNonUniformQuad/&\n&/" \
   -e "s/OpGroupNonUniformShuffle /OpGroupNonUniformRotateKHR /" \
   -e "s/OpGroupNonUniformShuffleXor \(.*\)/OpGroupNonUniformRotateKHR \1 $eight/" \
   -e "0,/OpCapability GroupNonUniformQuad/s//OpCapability GroupNonUniformRotateKHR/" |
   $assemble - -o rotate_uint.spv
for t in float float16_t; do
   $glsl -DT=$t -DS=float matmul.comp -o matmul_$t.spv
   $glsl -DT=$t -DS=float matrix.comp -o matrix_${t}_float.spv
done
$glsl -DT=int8_t -DS=int matmul.comp -o matmul_int8_t.spv
for types in int8_t:int8_t:int int8_t:uint8_t:int uint8_t:int8_t:int uint8_t:uint8_t:int uint8_t:uint8_t:uint \
   int8_t:int8_t:int8_t uint8_t:int8_t:int16_t int16_t:uint16_t:int uint16_t:uint16_t:uint16_t int:uint8_t:int uint:int:uint; do
   t=${types%%:*} s=${types##*:} u=${types#*:}; u=${u%:*}
   $glsl -DT=$t -DU=$u -DS=$s matrix_bytes.comp -o matrix_${t}_${u}_$s.spv
done
$glsl matrix_integers.comp -o matrix_integers.spv
$glsl matrix_flow.comp -o matrix_flow.spv
for kernel in any_size any_size_index any_size_length abs counts descriptor_heap float_atomics float_atomics_alone indirect scratch tables; do
   $glsl $kernel.comp -o $kernel.spv
done
$glsl matrix_address.comp -o matrix_address.spv
$glsl -DT=float16_t -DS=float16_t matrix.comp -o matrix_float16_t_float16_t.spv
for kernel in dot dot_floats; do
   ${SPIRV_AS:-spirv-as} --target-env spv1.6 $kernel.spvasm -o $kernel.spv
done
${SPIRV_AS:-spirv-as} --target-env spv1.3 entries.spvasm -o entries.spv
${SPIRV_OPT:-spirv-opt} --strip-debug entries.spv -o entries_stripped.spv
for text in foreign/*.spvasm; do
   ${SPIRV_AS:-spirv-as} --target-env spv1.4 "$text" -o "${text%asm}"
   ${SPIRV_VAL:-spirv-val} --target-env spv1.4 "${text%asm}"
done
for kernel in atomic3 atomic_float fetch gather heap more query sample sampler_heap sampler_mixed samplers samples \
   texels write; do
   $glsl image_$kernel.comp -o image_$kernel.spv
done
for kernel in quads image_quads; do # these with glslang 15 or newer
   $glsl $kernel.comp -o ${kernel}_squares.spv
   $glsl -DLINEAR $kernel.comp -o ${kernel}_linear.spv
done
for kind in LAYERS ARRAYS SAMPLES; do
   $glsl -D$kind image_atomics.comp -o image_atomics_$(echo $kind | tr A-Z a-z).spv
done
for kind in HEAP HEAP_LEVEL LAYER SAMPLE TEXEL TEXEL_STORE; do
   $glsl -DKIND=$kind image_cost.comp -o image_cost_$(echo $kind | tr A-Z a-z).spv
done
for kernel in fetch sample samples store texels; do
   $glsl image_formats_$kernel.comp -o image_formats_$kernel.spv
   for s in u i; do
      $glsl -DS=$s image_formats_$kernel.comp -o image_formats_${kernel}_$s.spv
   done
done
for level in 0 level; do
   $glsl -DLEVEL=$level image_level.comp -o image_level_$level.spv
done
for stage in dense formats stage default store; do
   $glsl vertex_$stage.vert -o vertex_$stage.spv
done
for t in uint8_t:1:u8 uint16_t:2:u16 uint:4:u32 uint64_t:8:u64 uvec2:8:uvec2 uvec3:16:uvec3 uvec4:16:uvec4 u16vec4:8:u16vec4; do
   type=${t%%:*} name=${t##*:} align=${t#*:}; align=${align%:*}
   $glsl -DTYPE=$type -DALIGN=$align -DFAR=$((0x60000000 / align)) large.comp -o large_$name.spv
done
# Name, then what is defined.
while read -r name defines; do
   eval "$glsl $defines robust_access.comp -o robust_$name.spv"
done <<'END'
u8 -DTYPE=uint8_t '-DACCESS=a[i]'
u16 -DTYPE=uint16_t '-DACCESS=a[i]'
u32_behind_3 -DTYPE=uint -DHEAD=3 '-DACCESS=a[i]'
u64 -DTYPE=uint64_t '-DACCESS=a[i]'
f64 -DTYPE=double '-DACCESS=a[i]'
dvec2 -DTYPE=dvec2 '-DACCESS=a[i]'
uvec2 -DTYPE=uvec2 '-DACCESS=a[i]'
uvec3 -DTYPE=uvec3 '-DACCESS=a[i]'
uvec4 -DTYPE=uvec4 '-DACCESS=a[i]'
u16vec4 -DTYPE=u16vec4 '-DACCESS=a[i]'
u8vec3 -DTYPE=u8vec3 '-DACCESS=a[i]'
u64vec2 -DTYPE=u64vec2 '-DACCESS=a[i]'
nested -DTYPE=uint '-DMEMBERS=uint x; uint m[5];' '-DACCESS=a[i].m[j]'
member -DTYPE=uvec4 '-DMEMBERS=uvec4 x; uvec4 p; uint q;' '-DACCESS=a[i].p'
large -DTYPE=uint '-DMEMBERS=uint m[5000];' '-DACCESS=a[i].m[j]'
sums -DTYPE=uint -DHEAD=1 '-DACCESS=a[i + j]'
END
