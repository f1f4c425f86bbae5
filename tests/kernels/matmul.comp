#version 450
// SPDX-License-Identifier: MIT
// C = A B by cooperative matrices, all row by row; M, N and K are multiples of 64, 64 and 16. A
// subgroup makes a tile of 32x32, a workgroup of four one of 64x64. T is the type of A and B, S that
// of C.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 128) in;
layout(constant_id = 0) const uint K = 256;
layout(constant_id = 1) const uint N = 256;
layout(std430, binding = 0) restrict readonly buffer A { T a[]; };
layout(std430, binding = 1) restrict readonly buffer B { T b[]; };
layout(std430, binding = 2) restrict writeonly buffer C { S c[]; };

#define MATRIX(type, use) coopmat<type, gl_ScopeSubgroup, 16, 16, gl_MatrixUse##use>

void main()
{
   uint row = gl_WorkGroupID.y * 64u + gl_SubgroupID / 2u * 32u;
   uint column = gl_WorkGroupID.x * 64u + gl_SubgroupID % 2u * 32u;
   MATRIX(S, Accumulator) sum[4];
   for (int i = 0; i < 4; i++)
      sum[i] = MATRIX(S, Accumulator)(S(0.0));
   for (uint k = 0u; k < K; k += 16u) {
      MATRIX(T, A) x[2];
      MATRIX(T, B) y[2];
      for (int i = 0; i < 2; i++) {
         coopMatLoad(x[i], a, (row + 16u * i) * K + k, K, gl_CooperativeMatrixLayoutRowMajor);
         coopMatLoad(y[i], b, k * N + column + 16u * i, N, gl_CooperativeMatrixLayoutRowMajor);
      }
      for (int i = 0; i < 4; i++)
         sum[i] = coopMatMulAdd(x[i / 2], y[i % 2], sum[i]);
   }
   for (int i = 0; i < 4; i++)
      coopMatStore(sum[i], c, (row + 16u * (i / 2)) * N + column + 16u * (i % 2), N,
                   gl_CooperativeMatrixLayoutRowMajor);
}
