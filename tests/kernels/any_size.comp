#version 450
// SPDX-License-Identifier: MIT
// What a kernel sees of its workgroup, where launches choose its size and how long its last array
// is.
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(set = 0, binding = 0) writeonly buffer Rows
{
   uint rows[][8];
};
layout(push_constant) uniform Push
{
   uint is_odd_apart; // 1
};

shared uint own[4];
shared uint last[8192]; // as many as the launch says

void main()
{
   const uint threads = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;
   uint i = gl_LocalInvocationIndex, sum = 0, other = 0;
   uint history[3];
   if (i == threads - 1)
      own[1] = 77;
   last[i] = i * 3 + 1;
   barrier();
   for (uint k = 0; k < threads; k++)
      sum += last[k];
   // In divergent code: by way of workgroup memory.
   if ((i & is_odd_apart) != 0)
      other = subgroupShuffle(i * 5, (gl_SubgroupInvocationID & ~1u) | 1u);
   history[0] = gl_WorkGroupSize.x;
   history[1] = gl_WorkGroupSize.y;
   history[2] = gl_WorkGroupSize.z;
   uint group = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x +
                gl_WorkGroupID.x;
   uint row = group * threads + i;
   rows[row][0] = history[i % 3];
   rows[row][1] = sum;
   rows[row][2] = own[1];
   rows[row][3] = gl_NumSubgroups;
   rows[row][4] = gl_SubgroupID * 32 + gl_SubgroupInvocationID;
   rows[row][5] = subgroupAdd(1);
   rows[row][6] = other;
   rows[row][7] = (gl_GlobalInvocationID.z * gl_WorkGroupSize.y * gl_NumWorkGroups.y +
                   gl_GlobalInvocationID.y) * gl_WorkGroupSize.x * gl_NumWorkGroups.x +
                  gl_GlobalInvocationID.x;
}
