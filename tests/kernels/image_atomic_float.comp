#version 460
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
// SPDX-License-Identifier: MIT
// Atomics on images and buffers of texels of floats, inside or not: rows 0 to 3 are sums, least, most, and exchanged ones.
layout(local_size_x = 32) in;
layout(binding = 0, r32f) uniform image2D flat_image;
layout(binding = 1, r32f) uniform imageBuffer texels;
layout(std430, binding = 2) readonly buffer R { ivec4 requests[]; };
layout(std430, binding = 3) buffer F { vec2 found[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   ivec2 at = requests[i].xy;
   int place = at.y * 9 + at.x;
   float f = intBitsToFloat(requests[i].z), a = 0, b = 0;
   switch (at.y) {
   case 0:
      a = imageAtomicAdd(flat_image, at, f);
      b = imageAtomicAdd(texels, place, f);
      break;
   case 1:
      a = imageAtomicMin(flat_image, at, f);
      b = imageAtomicMin(texels, place, f);
      break;
   case 2:
      a = imageAtomicMax(flat_image, at, f);
      b = imageAtomicMax(texels, place, f);
      break;
   default:
      a = imageAtomicExchange(flat_image, at, f);
      b = imageAtomicExchange(texels, place, f);
   }
   found[i] = vec2(a, b);
}
