// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { int a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int r[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   int x = a[i], n = 0, m = 1;
   do {
      n++;
      if ((n & 1) == 0)
         continue;
      m += n * x;
   } while (n < x);
   while (true) {
      if (m < 0 || m > 1000)
         break;
      for (int k = 0;; k++) {
         m += k;
         if (k == 3)
            break;
         if (m % 7 == 0) {
            r[i] = -m;
            return;
         }
      }
   }
   int t = x, u = 1;
   while (t > 1) {
      int swap = t;
      t = u;
      u = swap - 1;
   }
   r[i] = m + t * 10 + u;
}
