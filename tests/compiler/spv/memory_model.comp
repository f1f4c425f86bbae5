#version 450
// SPDX-License-Identifier: MIT
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer In { int x[]; };
layout(std430, binding = 1) queuefamilycoherent buffer Out { int y[]; };
layout(std430, binding = 2) workgroupcoherent buffer Near { int near[]; };
shared int flags[32];
void main()
{
   int i = int(gl_GlobalInvocationID.x), l = int(gl_LocalInvocationID.x);
   near[i] = x[i] * 3;
   atomicStore(flags[l], l + 1, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelease);
   controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                  gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
   int other = i ^ 31;
   int f = atomicLoad(flags[l ^ 31], gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquire);
   y[i] = near[other] + f * 1000;
   memoryBarrier(gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
   atomicAdd(y[512 + (i & 3)], f, gl_ScopeDevice, gl_StorageSemanticsBuffer,
             gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}
