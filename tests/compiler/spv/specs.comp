// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 1) const int scale = 3;
layout(constant_id = 2) const bool negate = false;
layout(constant_id = 3) const float bias = 0.5;
const int count = scale * 2 + 1;
const uint mask = uint(count) << 3;
layout(set = 0, binding = 1) writeonly buffer Out { int r[]; };
void main()
{
   int list[count];
   for (int k = 0; k < count; k++)
      list[k] = k * scale;
   int v = negate ? -list[count - 1] : list[count - 1];
   r[gl_LocalInvocationIndex] =
      v + int(bias * 4.0) + int(mask) + int(gl_WorkGroupSize.x * 1000) + int(gl_WorkGroupSize.y);
}
