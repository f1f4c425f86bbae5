#version 450
// SPDX-License-Identifier: MIT
// Buffers of texels: loads, stores and atomics by any index, inside or not.
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 32) in;
layout(binding = 0) uniform textureBuffer texels;
layout(binding = 1, r32ui) uniform uimageBuffer counts;
layout(binding = 2, rgba16f) uniform writeonly imageBuffer halves;
layout(std430, binding = 3) readonly buffer R { uint requests[]; };
layout(std430, binding = 4) buffer Y { uvec4 y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   int at = int(requests[i]);
   y[2 * i] = floatBitsToUint(texelFetch(texels, at));
   y[2 * i + 1] = uvec4(imageLoad(counts, at + 7).x, textureSize(texels), imageSize(counts), imageSize(halves));
   imageAtomicAdd(counts, at, 1u);
   imageStore(halves, at, vec4(at, 1, 2, 3));
}
