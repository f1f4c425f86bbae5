#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer In { int x[]; };
layout(std430, binding = 1) writeonly buffer Out { int y[]; };
struct pair { int key; bool odd; i64vec2 wide; };
const int table[20] = int[](3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4);
int counts[40];
void push(inout int stack[12], inout int sp, int v)
{
   stack[sp] = v;
   sp = (sp + 1) % 12;
}
void main()
{
   uint i = gl_GlobalInvocationID.x;
   int v = x[i], sum = 0, sp = 0, stack[12];
   pair pairs[9];
   uint8_t bytes[33];
   f16vec3 halves[5];
   mat3 m[3];
   for (int k = 0; k < 12; k++) stack[k] = 0;
   for (int k = 0; k < 40; k++) counts[k] = k;
   for (int k = 0; k < 33; k++) bytes[(k * 7 + v) % 33] = uint8_t(k + v);
   for (int k = 0; k < 9; k++) {
      int at = (k * 4 + v) % 9;
      pairs[at].key = k - v;
      pairs[at].odd = ((k ^ v) & 1) != 0;
      pairs[at].wide = i64vec2(k * 1000003l, -k);
   }
   for (int k = 0; k < 5; k++) halves[(k + v) % 5] = f16vec3(k, k + 1, v);
   for (int k = 0; k < 3; k++) m[(k + v) % 3] = mat3(float(k + 1));
   for (int k = 0; k < 30; k++) {
      push(stack, sp, v * k);
      counts[(v + k * k) % 40] += table[(v + k) % 20];
   }
   for (int k = 0; k < 40; k++) sum = sum * 3 + counts[k];
   for (int k = 0; k < 12; k++) sum = sum * 5 + stack[(sp + k) % 12];
   for (int k = 0; k < 33; k++) sum = sum * 7 + int(bytes[k]);
   for (int k = 0; k < 9; k++) sum = sum * 9 + pairs[k].key + (pairs[k].odd ? 1 : 0) + int(pairs[k].wide[v & 1] >> 4);
   for (int k = 0; k < 5; k++) sum = sum * 11 + int(halves[k][v % 3]);
   for (int k = 0; k < 3; k++) sum = sum * 13 + int(m[k][v % 3][k]) + int(m[k][k][(v + 1) % 3]);
   y[i] = sum;
}
