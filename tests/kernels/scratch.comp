// A private array of `words` words a thread, too large for registers, indexed by what the thread
// reads: it lies in scratch memory.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint words = 64;
layout(binding = 0) readonly buffer In { uint rounds[]; };
layout(binding = 1) writeonly buffer Out { uint result[]; };

void main()
{
   uint own[words];
   uint id = gl_GlobalInvocationID.x, sum = 0;
   for (uint i = 0; i < words; i++)
      own[(i * 7u + id) % words] = id * 2654435761u + i;
   for (uint i = 0; i < rounds[id]; i++) {
      own[(sum + i) % words] += sum ^ i;
      sum = sum * 31u + own[(sum + id) % words];
   }
   result[id] = sum;
}
