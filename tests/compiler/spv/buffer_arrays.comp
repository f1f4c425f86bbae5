#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer In { int x[]; } ins[3];
layout(std140, binding = 1) uniform Row { ivec4 v; mat2x3 m; } rows[2];
layout(std430, binding = 2) buffer Out { int y[]; } outs[5];
void main()
{
   int i = int(gl_GlobalInvocationID.x);
   int a = ins[0].x[i] + ins[2].x[i] * 3;
   int b = ins[nonuniformEXT(i % 3)].x[i] + ins[i % 3].x.length();
   int c = rows[i & 1].v[i & 3] + rows[1].v.y + int(rows[(i >> 1) & 1].m[i & 1][i % 3]);
   outs[4].y[i] = a + b * 5 + c * 7;
   outs[i & 1].y[i + 2] = b;
   atomicAdd(outs[2 + (i & 1)].y[0], i);
}
