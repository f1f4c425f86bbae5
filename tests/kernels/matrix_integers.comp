#version 450
// SPDX-License-Identifier: MIT
// What is done to the elements of integer matrices of 8, 16 and 32 bits and to their types: D has
// for each of X and Y, bytes as signed numbers, a word of each operation. One subgroup.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
#define SIZE 16
#define M(type) coopmat<type, gl_ScopeSubgroup, SIZE, SIZE, gl_MatrixUseAccumulator>
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Bytes { int8_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Words { int v[]; };
layout(std430, binding = 0) buffer Scratch { int16_t scratch[]; };
layout(push_constant) uniform P { Bytes x, y; Words d; int factor; };
shared int8_t bytes[SIZE * SIZE];

#define OUT(number, value) \
   coopMatStore(M(int)(value), d.v, number * SIZE * SIZE, SIZE, gl_CooperativeMatrixLayoutRowMajor)

void main()
{
   M(int8_t) a, b, copy;
   coopMatLoad(a, x.v, 0, SIZE, gl_CooperativeMatrixLayoutRowMajor);
   coopMatLoad(b, y.v, 0, SIZE, gl_CooperativeMatrixLayoutRowMajor);
   OUT(0, a);
   OUT(1, M(uint8_t)(a));
   OUT(2, a + b);
   OUT(3, a - b);
   OUT(4, a * int8_t(factor));
   OUT(5, -a);
   OUT(6, M(int)(a) / M(int)(b));
   OUT(7, M(uint)(a) / M(uint)(b));
   OUT(8, M(float)(a) * 0.5);
   OUT(9, M(int8_t)(M(float16_t)(a) * float16_t(-0.75)));
   OUT(10, M(int16_t)(M(int)(a) * 300) + M(int16_t)(b));
   OUT(11, M(uint16_t)(M(int)(a) * 300));
   copy = a; // elements by themselves, and through workgroup memory by columns
   for (int i = 0; i < copy.length(); i++)
      copy[i] = (i & 1) != 0 ? copy[i] : b[i];
   coopMatStore(copy, bytes, 0, SIZE, gl_CooperativeMatrixLayoutColumnMajor);
   barrier();
   coopMatLoad(copy, bytes, 0, SIZE, gl_CooperativeMatrixLayoutColumnMajor);
   for (int i = 0; i < copy.length(); i++)
      copy[i] -= (i & 1) != 0 ? a[i] : b[i];
   OUT(12, copy);
   coopMatStore(M(int16_t)(M(int)(a) * factor), scratch, 0, SIZE, gl_CooperativeMatrixLayoutColumnMajor);
   memoryBarrierBuffer();
   barrier();
   M(int16_t) halves;
   coopMatLoad(halves, scratch, 0, SIZE, gl_CooperativeMatrixLayoutRowMajor);
   OUT(13, halves);
   M(int8_t) same = M(int8_t)(int8_t(-3));
   if (factor > 0)
      same = a;
   OUT(14, same + M(int8_t)(int8_t(100)));
}
