#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer In { int x[]; };
layout(std430, binding = 1) writeonly buffer Out { int y[]; };
shared Words { uint words[64]; mat2 m; };
shared Bytes { uint8_t bytes[256]; };
shared Halves { uint16_t pad[3]; layout(offset = 8) uint16_t halves[124]; };
void main()
{
   uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationID.x;
   words[l] = uint(x[i]) * 0x01030507u;
   words[l + 32] = l;
   if (l == 5) m = mat2(1, 2, 3, 4);
   barrier();
   uint s = uint(bytes[(l * 4 + 1) % 128]) + uint(halves[l]) * 3 + uint(m[l & 1][l >> 1 & 1]);
   barrier();
   bytes[l] = uint8_t(l + 7);
   barrier();
   y[i] = int(s + words[l / 4] * 5);
}
