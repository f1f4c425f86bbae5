#version 450
// SPDX-License-Identifier: MIT
// Iterations until a point of the complex plane escapes, up to a limit; the host colours them.
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, set = 0, binding = 0) writeonly buffer Output { uint iterations[]; };
layout(push_constant) uniform Arguments {
   uint width, height, limit;
   float left, top, step;
};

void main()
{
   uvec2 pixel = gl_GlobalInvocationID.xy;
   if (pixel.x >= width || pixel.y >= height)
      return;
   vec2 c = vec2(left + float(pixel.x) * step, top + float(pixel.y) * step);
   vec2 z = vec2(0.0);
   uint n = 0;
   while (n < limit && z.x * z.x + z.y * z.y <= 4.0) {
      z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
      n++;
   }
   iterations[pixel.y * width + pixel.x] = n;
}
