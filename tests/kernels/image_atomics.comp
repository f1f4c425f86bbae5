#version 450
// SPDX-License-Identifier: MIT
// Atomics on images that come in numbers: layers, arrays of images, samples. Places are inside or not.
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 32) in;
layout(binding = 0, r32ui) uniform uimage2DArray layers;
layout(binding = 1, r32ui) uniform uimage1D line;
layout(binding = 2, r32ui) uniform uimage1DArray lines;
layout(binding = 3, r32ui) uniform uimageCubeArray cubes;
layout(std430, binding = 4) readonly buffer R { ivec4 requests[]; };
#ifdef ARRAYS
layout(binding = 5, r32ui) uniform uimage2D sized[3];
layout(binding = 6, r32ui) uniform uimage2DArray unsized[];
#endif
#ifdef SAMPLES
layout(binding = 7, r32ui) uniform uimage2DMS samples;
layout(binding = 8, r32ui) uniform uimage2DMSArray more[2];
#endif
layout(std430, binding = 9) writeonly buffer Y { uvec4 y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   ivec4 r = requests[i];
   uint value = uint(r.w) & 1023u, which = uint(r.w) >> 10;
   uvec4 was = uvec4(0);
#ifdef ARRAYS
   was.x = imageAtomicAdd(sized[nonuniformEXT(which)], r.xy, value);
   was.y = imageAtomicAdd(sized[1], r.yx, value);
   was.z = imageAtomicMax(unsized[nonuniformEXT(which)], r.xyz, value);
   was.w = imageAtomicMax(unsized[2], r.yxz, value);
#elif defined(SAMPLES)
   was.x = imageAtomicAdd(samples, r.xy, int(which), value);
   was.y = imageAtomicAdd(samples, r.yx, 1, value);
   was.z = imageAtomicMax(more[nonuniformEXT(which & 1u)], r.xyz, int(which >> 1), value);
   was.w = imageAtomicMax(more[1], r.yxz, int(which & 1u), value);
#else
   was.x = imageAtomicAdd(layers, r.xyz, value);
   was.y = imageAtomicAdd(line, r.x, value);
   was.z = imageAtomicAdd(lines, r.xz, value);
   was.w = imageAtomicAdd(cubes, r.xyz, value);
#endif
   y[i] = was;
}
