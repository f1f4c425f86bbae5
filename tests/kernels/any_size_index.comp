#version 450
// SPDX-License-Identifier: MIT
// A private array, indexed by what is a constant to the module and depends on the workgroup's size.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) writeonly buffer Out
{
   uint words[];
};
const uint where = (gl_WorkGroupSize.x + 1u) & 3u;
const bool is_large = gl_WorkGroupSize.x > 16u;

uint pick(uint at)
{
   uint table[4] = {at, at + 10u, at + 20u, at + 30u};
   return table[where];
}

void main()
{
   uint i = gl_GlobalInvocationID.x, value = pick(i);
   if (is_large)
      value += 1000u;
   for (uint k = 0; k < where; k++)
      value += 100000u;
   words[i] = value;
}
