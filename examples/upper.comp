#version 450
// SPDX-License-Identifier: MIT
// Text to upper case, in place, four letters at a time.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Text { uint text[]; };

void main()
{
   uint word = text[gl_GlobalInvocationID.x];
   uint low = word & 0x7f7f7f7fu; // so that no sum below reaches the next byte
   uint from_a = low + (0x80u - 0x61u) * 0x01010101u;  // bit 7: at least 'a'
   uint beyond_z = low + (0x80u - 0x7bu) * 0x01010101u; // bit 7: beyond 'z'
   uint is_letter = from_a & ~beyond_z & ~word & 0x80808080u;
   text[gl_GlobalInvocationID.x] = word - (is_letter >> 2);
}
