#version 450
// SPDX-License-Identifier: MIT
// Eight attributes as floats and eight as integers, passed through as bits, in front of what
// the stage itself knows.
layout(location = 0) in vec4 f[8];
layout(location = 8) in uvec4 u[8];
layout(location = 0) out uvec4 bits[17];
void main() {
   for (int i = 0; i < 8; i++) {
      bits[i] = floatBitsToUint(f[i]);
      bits[8 + i] = u[i];
   }
   bits[16] = uvec4(gl_VertexIndex, gl_InstanceIndex, 0u, 0u);
}
