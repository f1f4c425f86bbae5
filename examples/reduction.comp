#version 450
// SPDX-License-Identifier: MIT
// One sum for each workgroup: each thread adds up its share of the input with a stride of the
// whole grid, then the workgroup folds its threads' sums in threadgroup memory.
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { uint sums[]; };
layout(push_constant) uniform Arguments { uint count; };
shared uint partial[256];

void main()
{
   uint lane = gl_LocalInvocationID.x;
   uint sum = 0;
   for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * 256)
      sum += data[i];
   partial[lane] = sum;
   barrier();
   for (uint width = 128; width > 0; width >>= 1) {
      if (lane < width)
         partial[lane] += partial[lane + width];
      barrier();
   }
   if (lane == 0)
      sums[gl_WorkGroupID.x] = partial[0];
}
