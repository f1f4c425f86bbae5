// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(set = 0, binding = 0) readonly buffer In { int a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int r[]; };
struct Cell { ivec3 v; bool flag; };
shared Cell cells[32];
shared int total, most;
void main()
{
   uint i = gl_LocalInvocationIndex;
   if (i == 0) {
      total = 0;
      most = -1000;
   }
   cells[i].v = ivec3(a[i], i, gl_LocalInvocationID.y);
   cells[i].flag = a[i] > 3;
   memoryBarrierShared();
   barrier();
   atomicAdd(total, cells[i ^ 1].v.x);
   atomicMax(most, cells[31 - i].v.x);
   barrier();
   Cell other = cells[(i + 5) & 31];
   r[i] = total * 1000 + most * 100 + other.v.y * 10 + other.v.z + (other.flag ? 5 : 0);
}
