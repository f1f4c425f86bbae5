#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_null_initializer : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer In { int x[]; };
layout(std430, binding = 1) writeonly buffer Out { int y[]; };
struct pair { int a; float b[3]; };
shared int counts[41] = {};
shared int other[5];
shared pair pairs[9] = {};
void main()
{
   uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationID.x;
   atomicAdd(counts[x[i]], 1);
   if (l == 0) other[3] = 9;
   barrier();
   int sum = 0;
   for (int k = 0; k < 41; k++) sum = sum * 3 + counts[k];
   for (int k = 0; k < 9; k++) sum += pairs[k].a + int(pairs[k].b[k % 3]);
   y[i] = sum + other[3];
}
