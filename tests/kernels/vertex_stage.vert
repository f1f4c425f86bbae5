#version 460
// SPDX-License-Identifier: MIT
// What else a vertex stage may say: parts of locations, matrices, dynamic indices, early returns,
// blocks, captured outputs.
layout(location = 0, component = 0) in vec2 low;
layout(location = 0, component = 2) in vec2 high;
layout(location = 1) in mat2 turn[2];
layout(location = 5) in ivec3 three;
layout(location = 6) in uint one;
layout(xfb_buffer = 1, xfb_stride = 48) out;
out gl_PerVertex {
   layout(xfb_offset = 16) vec4 gl_Position;
   layout(xfb_offset = 0) float gl_PointSize;
};
layout(location = 0, xfb_buffer = 1, xfb_offset = 32) out vec2 turned;
layout(location = 1, xfb_buffer = 0, xfb_stride = 20, xfb_offset = 4) flat out ivec4 numbers;
void main() {
   gl_PointSize = float(gl_DrawID);
   gl_Position = vec4(low, high);
   turned = vec2(7.0);
   numbers = ivec4(three, one);
   if ((gl_VertexIndex & 3) == 3)
      return;
   turned = turn[gl_VertexIndex & 1] * low;
   numbers.xy = ivec2(gl_BaseVertex, gl_BaseInstance);
}
