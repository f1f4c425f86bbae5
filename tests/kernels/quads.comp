#version 450
// SPDX-License-Identifier: MIT
// Derivatives of invocations: of floats and halves, scalars and vectors, in ifs and loops that whole
// quads take. With LINEAR four of them in a row are a quad.
#extension GL_KHR_compute_shader_derivatives : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_AMD_gpu_shader_half_float : require
layout(local_size_x = 4, local_size_y = 2, local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#ifdef LINEAR
layout(derivative_group_linearKHR) in;
#else
layout(derivative_group_quadsKHR) in;
#endif
layout(std430, binding = 0) readonly buffer In { vec4 x[]; };
layout(std430, binding = 1) writeonly buffer Out { vec4 y[]; };
layout(std430, binding = 2) writeonly buffer Ids { uvec4 ids[]; };
const uint COUNT = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;
shared uint taken[COUNT];
void main()
{
   uint index = gl_LocalInvocationIndex;
   uint group = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
   uint at = group * COUNT + index;
   vec4 a = x[at];
   y[8 * at] = dFdx(a);
   y[8 * at + 1] = dFdy(a);
   y[8 * at + 2] = fwidth(a);
   y[8 * at + 3] = vec4(dFdxFine(a.x), dFdyFine(a.y), fwidthFine(a.z), dFdxCoarse(a.w));
   y[8 * at + 4] = vec4(dFdyCoarse(a.xy), fwidthCoarse(a.zw));
   f16vec2 h = f16vec2(a.xy);
   y[8 * at + 5] = vec4(dFdx(h), dFdy(h));
   // A quad's number: all of its invocations have the same.
   uvec3 l = gl_LocalInvocationID;
#ifdef LINEAR
   uint quad = index / 4;
#else
   uint quad = l.x / 2 + l.y / 2 + l.z;
#endif
   vec4 b = vec4(0);
   if ((quad & 1) != 0)
      b.x = dFdx(a.z * a.w);
   else
      b.y = dFdy(a.z * 3.1);
   for (uint i = 0; i < (quad & 3); i++) {
      b.z += dFdx(a[i & 1]) * float(i + 1);
      b.w += fwidth(a[1 - (i & 1)]);
   }
   y[8 * at + 6] = b;
   // Quads of subgroup operations are these quads.
   y[8 * at + 7] = vec4(subgroupQuadSwapHorizontal(a.x), subgroupQuadSwapVertical(a.x),
                        subgroupQuadSwapDiagonal(a.x), subgroupQuadBroadcast(a.x, 3));
   taken[index] = index;
   barrier();
   uvec3 g = gl_GlobalInvocationID;
   ids[at] = uvec4(l.x | l.y << 10 | l.z << 20, g.x | g.y << 10 | g.z << 20,
                   gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID, taken[COUNT - 1 - index]);
}
