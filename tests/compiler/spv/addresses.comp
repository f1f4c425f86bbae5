#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { int value; int pad; Node next; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Ints { int v; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Row { mat2 m[2]; int tail[]; };
layout(push_constant) uniform P { Node list; Ints ints; uvec2 row; uint64_t counter; int n; } p;
layout(std430, binding = 0) buffer Out { int y[]; };
int sum(Node node, int most)
{
   int s = 0;
   for (int i = 0; i < most && uint64_t(node) != 0ul; i++) {
      s = s * 3 + node.value;
      node = node.next;
   }
   return s;
}
void main()
{
   int i = int(gl_GlobalInvocationID.x);
   Ints at = p.ints + i, before = p.ints + (i - 64);
   Row row = Row(p.row);
   int s = sum(p.list, i % 9) + at.v;
   before.v = s;
   Ints pick = (i & 1) != 0 ? at : Ints(uint64_t(p.ints) + 4ul * uint64_t(i ^ 2));
   s += pick.v * 7 + int(row.m[i & 1][i >> 1 & 1][i >> 2 & 1]) + row.tail[i];
   atomicAdd(Ints(p.counter).v, i);
   y[i] = s;
}
