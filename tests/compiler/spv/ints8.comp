// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { int8_t a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int8_t r[][32]; };
shared int8_t s[33];
void main()
{
   uint i = gl_LocalInvocationIndex;
   int8_t x = a[2 * i], y = a[2 * i + 1];
   uint8_t u = uint8_t(x), v = uint8_t(y);
   int n = int(v) & (8 - 1);
   s[i + 1] = x * y;
   subgroupBarrier();
   r[i][0] = x + y;
   r[i][1] = x - y;
   r[i][2] = x * y;
   r[i][3] = x / y;
   r[i][4] = x % int8_t(10);
   r[i][5] = int8_t(u / v);
   r[i][6] = int8_t(u % v);
   r[i][7] = x << n;
   r[i][8] = x >> n;
   r[i][9] = int8_t(u >> n);
   r[i][10] = min(x, y) ^ int8_t(max(u, v));
   r[i][11] = abs(x) + sign(y);
   r[i][12] = int8_t(float(x) * 0.5);
   r[i][13] = x < y || u >= v ? ~x : x & (y | int8_t(0x70));
   int8_t sum = int8_t(0);
   for (int k = 0; k < 5; k++) {
      sum = sum * int8_t(31) + x;
      if (sum < y)
         sum += int8_t(7);
   }
   r[i][14] = sum;
   r[i][15] = int8_t((int(x) * int(y)) >> 8);
   r[i][16] = int8_t((uint(u) * uint(v)) >> 8);
   r[i][17] = -x;
   r[i][18] = s[(i ^ 5u) + 1];
   r[i][19] = int8_t(int64_t(x) * int64_t(u) >> 4);
   r[i][20] = int8_t(float16_t(v & uint8_t(127)) * float16_t(2));
   r[i][21] = x == y || u != v ? int8_t(1) : x;
   for (int k = 22; k < 32; k++)
      r[i][k] = u > uint8_t(100) ? int8_t(k) : x;
}
