// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer In { float x[]; };
layout(binding = 1) writeonly buffer Out { float y[]; };

void main()
{
   y[gl_GlobalInvocationID.x] = abs(x[gl_GlobalInvocationID.x]);
}
