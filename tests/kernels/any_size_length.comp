#version 450
// SPDX-License-Identifier: MIT
// An array as long as the workgroup has threads, which cannot be where launches choose.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) writeonly buffer Out
{
   uint words[];
};
shared uint each[gl_WorkGroupSize.x];

void main()
{
   each[gl_LocalInvocationIndex] = gl_LocalInvocationIndex;
   barrier();
   words[gl_GlobalInvocationID.x] = each[gl_LocalInvocationIndex ^ 1u];
}
