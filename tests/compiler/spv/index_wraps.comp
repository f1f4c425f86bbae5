#version 450
// SPDX-License-Identifier: MIT
// Indices that are in bounds though what they are computed from is below zero or wraps.
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer I { int before[]; };
layout(std430, binding = 1) readonly buffer X { uint x[]; };
layout(std430, binding = 2) writeonly buffer Y { uint y[]; };
layout(std430, binding = 3) writeonly buffer Z { uint z[]; };
layout(std430, binding = 4) buffer C { uint c[]; };
void main()
{
   uint g = gl_GlobalInvocationID.x;
   int k = before[g];
   uint high = uint(k + 1) | 0x80000000u;
   y[g] = x[k + 1] + 3u * x[k + 3] + 5u * x[high << 1] + 7u * x[high * 2u + 3u] + 11u * x[high * 4u];
   z[k + 1] = g + x[k + 2];
   atomicAdd(c[k + 1], 2u + g);
}
