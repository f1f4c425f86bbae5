#version 450
// SPDX-License-Identifier: MIT
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) writeonly buffer Out { uint y[]; };
shared uint flag;
void main()
{
   uint i = gl_LocalInvocationID.x, turns = 0;
   atomicStore(flag, i, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelaxed);
   while (atomicLoad(flag, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelaxed) < i)
      turns++;
   y[i] = turns;
}
