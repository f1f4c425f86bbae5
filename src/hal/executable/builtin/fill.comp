#version 460
// SPDX-License-Identifier: MIT
//
// length bytes of a pattern of 4, from any address on: 16-byte stores where the target is aligned
// to them, 4 for each thread, and single bytes before and behind, by the first workgroup. Nothing
// else is touched. The driver binds a buffer at `target` (make_builtins.c).
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x = 64) in;

layout(buffer_reference, buffer_reference_align = 1) writeonly buffer Bytes { uint8_t at[]; };
layout(buffer_reference, buffer_reference_align = 16) writeonly buffer Quads { uvec4 at[]; };

layout(push_constant) uniform Push {
   uint64_t target;
   uint length; // less than 2^31
   uint pattern;
};

const uint EACH = 4; // stores of a thread

void main()
{
   uint head = min(-uint(target) & 15, length);
   uint quads = (length - head) >> 4;
   uint tail = (length - head) & 15;
   uint turn = (head & 3) * 8;
   uint word = turn == 0 ? pattern : pattern >> turn | pattern << (32 - turn);
   Quads bulk = Quads(target + head);
   uint group = gl_WorkGroupID.x * (64 * EACH);
   uint me = gl_LocalInvocationID.x;
   uint first = group + me;
   if (group + 64 * EACH <= quads) {
      for (uint i = 0; i < EACH; i++)
         bulk.at[first + i * 64] = uvec4(word);
   } else {
      for (uint i = 0; i < EACH; i++)
         if (first + i * 64 < quads)
            bulk.at[first + i * 64] = uvec4(word);
   }
   if (group == 0) {
      bool is_head = me < 16;
      uint at = is_head ? me : length - tail + (me - 16);
      if (is_head ? me < head : me - 16 < tail)
         Bytes(target).at[at] = uint8_t(pattern >> (at & 3) * 8);
   }
}
