#version 460
// SPDX-License-Identifier: MIT
//
// length bytes from any address to any other: 16-byte stores where the target is aligned to them,
// 4 for each thread, and single bytes before and behind, by the first workgroup. The 16 bytes are
// one load where source and target are congruent modulo 4, else they are shifted out of 5 words.
// Nothing else is written, nor read. The driver binds buffers at `target` and `source`
// (make_builtins.c).
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x = 64) in;

layout(buffer_reference, buffer_reference_align = 1) readonly buffer From { uint8_t at[]; };
layout(buffer_reference, buffer_reference_align = 1) writeonly buffer Bytes { uint8_t at[]; };
layout(buffer_reference, buffer_reference_align = 4, std430) readonly buffer Words { uint at[]; };
layout(buffer_reference, buffer_reference_align = 16) writeonly buffer Quads { uvec4 at[]; };

layout(push_constant) uniform Push {
   uint64_t target, source;
   uint length; // less than 2^31
};

const uint EACH = 4; // quads of a thread

uvec4 load4(Words words, uint quad)
{
   return uvec4(words.at[quad * 4], words.at[quad * 4 + 1], words.at[quad * 4 + 2],
                words.at[quad * 4 + 3]);
}

void main()
{
   // The bytes by which the source's words lie before those of the target.
   uint shift = (uint(source) - uint(target)) & 3;
   uint head = -uint(target) & 15;
   if (head < shift) // the first word would begin before the source
      head += 16;
   head = min(head, length);
   uint rest = length - head, behind = shift == 0 ? 0 : 4 - shift;
   uint quads = rest < behind ? 0 : (rest - behind) >> 4;
   uint tail = rest - quads * 16;
   Quads to = Quads(target + head);
   Words from = Words(source + head - shift);
   uint group = gl_WorkGroupID.x * (64 * EACH);
   uint me = gl_LocalInvocationID.x;
   uint first = group + me;
   if (group < quads) {
      // What lies behind the last is loaded as the last, and not stored, so that all loads are
      // under way at once.
      uvec4 data[EACH];
      uint next[EACH];
      for (uint i = 0; i < EACH; i++)
         data[i] = load4(from, min(first + i * 64, quads - 1));
      if (shift != 0) {
         uint right = shift * 8, left = 32 - right;
         for (uint i = 0; i < EACH; i++)
            next[i] = from.at[min(first + i * 64, quads - 1) * 4 + 4];
         for (uint i = 0; i < EACH; i++)
            data[i] = data[i] >> right | uvec4(data[i].yzw, next[i]) << left;
      }
      for (uint i = 0; i < EACH; i++)
         if (first + i * 64 < quads)
            to.at[first + i * 64] = data[i];
   }
   if (group == 0) {
      bool is_head = me < 32;
      uint at = is_head ? me : length - tail + (me - 32);
      if (is_head ? me < head : me - 32 < tail)
         Bytes(target).at[at] = From(source).at[at];
   }
}
