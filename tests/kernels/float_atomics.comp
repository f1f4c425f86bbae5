#version 460
// SPDX-License-Identifier: MIT
// Atomics on floats in buffers, workgroup memory, behind addresses and in images, by many threads for few words.
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Far { float f[]; };
layout(std430, binding = 0) readonly buffer X { uvec4 x[]; }; // what to do, a place, the bits of two floats
layout(std430, binding = 1) buffer Y { float y[]; };
layout(std430, binding = 2) buffer O { float old[]; };
layout(push_constant) uniform P { uvec2 address; };
shared float s[8];
void main()
{
   uint i = gl_GlobalInvocationID.x, place = x[i].y;
   float f = uintBitsToFloat(x[i].z), g = uintBitsToFloat(x[i].w);
   Far far = Far(address);
   if (gl_LocalInvocationIndex < 8)
      atomicStore(s[gl_LocalInvocationIndex], 0.0, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelease);
   barrier();
   if (x[i].x == 0) { // divergent
      old[3 * i] = atomicAdd(y[place], f);
      old[3 * i + 1] = atomicAdd(far.f[place], f);
      old[3 * i + 2] = atomicAdd(s[place], f);
   }
   atomicMin(y[8 + place], g);
   atomicMax(y[16 + place], g);
   atomicMin(far.f[8 + place], g);
   atomicMax(far.f[16 + place], g);
   if (x[i].x == 1)
      old[3 * i] = atomicExchange(y[24 + place], f);
   barrier();
   if (gl_LocalInvocationIndex < 8)
      atomicAdd(y[32 + gl_LocalInvocationIndex],
                atomicLoad(s[gl_LocalInvocationIndex], gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquire));
}
