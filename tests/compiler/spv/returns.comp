// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { int a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int r[]; };
int find(int x, int limit)
{
   if (x < 0)
      return -1;
   for (int i = 0; i < limit; i++) {
      for (int j = 0; j < i; j++) {
         if (i * j == x)
            return i * 100 + j;
         if (j > 6)
            break;
      }
      if (i > 20)
         return 5000;
   }
   return 6000;
}
int classify(int x)
{
   switch (x & 3) {
   case 0:
      return find(x, 10);
   case 1:
      for (int i = 0; i < 4; i++)
         if ((x >> i) == 2)
            return i;
      break;
   case 2:
      if (x > 9)
         return 77;
   }
   return find(x + 1, 30) + 1;
}
void main()
{
   uint i = gl_GlobalInvocationID.x;
   if (a[i] == 13)
      return;
   int first = classify(a[i]);
   if (first > 0) {
      first += find(first, 5);
   }
   r[i] = first;
}
