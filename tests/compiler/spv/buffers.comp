// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
struct Node { uint next; vec3 p; float w[2]; };
layout(set = 1, binding = 2, std430) buffer Nodes { uint count; Node nodes[]; };
layout(set = 0, binding = 3) coherent buffer Counters { uint n[4]; int least; uint swap; };
layout(set = 0, binding = 1) restrict readonly buffer Bias { float bias[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   if (i >= nodes.length())
      return;
   Node node = nodes[i];
   node.p += bias[i & 3];
   node.w[1] = float(bias.length());
   nodes[i] = node;
   atomicAdd(n[i & 3], node.next);
   atomicMin(least, int(i) - 7);
   if (atomicCompSwap(swap, 0, i + 1) == 0)
      count = i;
}
