#version 450
// SPDX-License-Identifier: MIT
// Matrix products behind returns, continues and breaks of whole subgroups: there the
// instruction must not run without its lanes.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) buffer C { float c[]; };
layout(push_constant) uniform P { uint n, skip, limit, odd; };
#define M(u) coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUse##u>
void main()
{
   uint w = gl_WorkGroupID.x * 2u + gl_SubgroupID;
   if (w >= limit)
      return;
   M(Accumulator) z = M(Accumulator)(0.0);
   for (uint i = 0; i < n; i++) {
      if (i == skip)
         continue;
      M(A) x; M(B) y;
      coopMatLoad(x, a, i * 256u, 16, gl_CooperativeMatrixLayoutRowMajor);
      coopMatLoad(y, b, i * 256u, 16, gl_CooperativeMatrixLayoutRowMajor);
      z = coopMatMulAdd(x, y, z);
      if (i + 1u == odd)
         break;
      if ((w & 1u) != 0u)
         z = coopMatMulAdd(x, y, z);
   }
   coopMatStore(z, c, w * 256u, 16, gl_CooperativeMatrixLayoutRowMajor);
}
