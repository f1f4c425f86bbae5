// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { int a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int r[]; };
layout(push_constant) uniform P { ivec4 v[2]; layout(offset = 64) int list[6]; int last; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   r[i] = v[a[i] & 1][a[i] & 3] + list[a[i] % 6] * 10 + last * 100;
}
