// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { int a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int r[]; };
const int table[8] = int[](3, 1, 4, 1, 5, 9, 2, 6);
struct Pair { int key; ivec3 v[2]; };
Pair keep;
void main()
{
   uint i = gl_GlobalInvocationID.x;
   int x = a[i] & 7;
   int local[5] = int[](0, 0, 0, 0, 0);
   for (int k = 0; k < 10; k++)
      local[(x + k * k) % 5] += table[(x + k) & 7];
   keep.key = local[x % 5];
   keep.v[0] = ivec3(x, local[1], local[2]);
   keep.v[x & 1].y += 7;
   keep.v[1][x % 3] = 11;
   ivec4 w = ivec4(local[0], local[3], local[4], x);
   w[x & 3] += 100;
   Pair copy = keep;
   r[i] = copy.key + copy.v[0].y * 3 + copy.v[1].x + copy.v[1].y * 5 + w.x + w[(x + 1) & 3];
}
