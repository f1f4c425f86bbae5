#version 450
// SPDX-License-Identifier: MIT
// C = A B + 1 through addresses: A as vectors of four, B column by column.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer V { vec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer F { float f[]; };
layout(push_constant) uniform P { uint64_t a, b, c; };
#define M(u) coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUse##u>
void main()
{
   V x = V(a); F y = F(b), z = F(c);
   M(A) p; M(B) q; M(Accumulator) r = M(Accumulator)(1.0);
   coopMatLoad(p, x.v, 0, 4, gl_CooperativeMatrixLayoutRowMajor);
   coopMatLoad(q, y.f, 0, 16, gl_CooperativeMatrixLayoutColumnMajor);
   r = coopMatMulAdd(p, q, r);
   coopMatStore(r, z.f, 0, 16, gl_CooperativeMatrixLayoutRowMajor);
}
