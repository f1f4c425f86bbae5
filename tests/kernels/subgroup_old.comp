#version 450
// SPDX-License-Identifier: MIT
// Ballots and votes of SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote.
#extension GL_ARB_shader_ballot : require
#extension GL_ARB_shader_group_vote : require
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) buffer Y { uint y[]; };
void main()
{
   uint g = gl_LocalInvocationIndex, v = x[g];
   uint r = uint(ballotARB((v & 1u) != 0u)) ^ readFirstInvocationARB(v) ^ readInvocationARB(v, 5u);
   if ((v & 2u) != 0u)
      r += anyInvocationARB((v & 4u) != 0u) ? 1u : 0u;
   r += allInvocationsARB(v != 0u) ? 2u : 0u;
   r += allInvocationsEqualARB((v & 8u) != 0u) ? 4u : 0u;
   y[g] = r + uint(gl_SubGroupLtMaskARB) + gl_SubGroupSizeARB;
}
