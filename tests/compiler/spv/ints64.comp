// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { int64_t a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int64_t r[][16]; };
void main()
{
   uint i = gl_LocalInvocationIndex;
   int64_t x = a[2 * i], y = a[2 * i + 1];
   uint64_t u = uint64_t(x), v = uint64_t(y);
   uint n = uint(v) & 63u;
   r[i][0] = x + y;
   r[i][1] = x - y;
   r[i][2] = x * y;
   r[i][3] = x / y;
   r[i][4] = x % 1000l;
   r[i][5] = int64_t(u / v);
   r[i][6] = int64_t(u % v);
   r[i][7] = x << n;
   r[i][8] = x >> n;
   r[i][9] = int64_t(u >> n);
   r[i][10] = min(x, y) ^ int64_t(max(u, v));
   r[i][11] = abs(x) + sign(y);
   r[i][12] = int64_t(floatBitsToInt(float(x))) << 32 | int64_t(floatBitsToUint(float(u)));
   r[i][13] = x < y || u >= v ? ~x : x & (y | 0xff00l);
   int64_t sum = 0l;
   for (int k = 0; k < 5; k++) {
      sum = sum * 31l + x;
      if (sum < y)
         sum += 7l;
   }
   r[i][14] = sum;
   r[i][15] = int64_t(float(int(x))) + int64_t(uint64_t(float(uint(y))));
}
