// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { int a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int r[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   int x = a[i], s = 0;
   for (int k = 0; k < 6; k++) {
      switch (x + k) {
      case 1:
         s += 1;
      case 2:
         if (k == 2)
            break;
         s += 20;
         break;
      case 3:
         if (k == 1)
            continue;
         s += 300;
      default:
         s += 4000;
         break;
      case 5:
         s += 50000;
      }
      s += 1000000;
   }
   switch (x) {
   case 7:
   case 8:
      s = -s;
   }
   r[i] = s;
}
