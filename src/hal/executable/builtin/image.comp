#version 460
// SPDX-License-Identifier: MIT
//
// A box of elements, one for each thread, from one grid of them in memory to another, or with CLEAR
// the same bytes to all of a grid. An element is a texel with all its samples, one of its samples,
// or a compressed block: 2^n bytes, up to 64. A grid is a level of an image, or texels in a buffer:
// slices of tiles, which lie row by row, each twiddled inside (docs/hw/layouts.md); a tile of linear
// memory is one element. The driver binds images and buffers at `target` and `source`
// (make_builtins.c).
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 8, local_size_y = 8) in;

layout(buffer_reference, buffer_reference_align = 1) buffer Bytes { uint8_t at; };
layout(buffer_reference, buffer_reference_align = 2) buffer Halves { uint16_t at; };
layout(buffer_reference, buffer_reference_align = 4) buffer Words { uint at; };
layout(buffer_reference, buffer_reference_align = 4, scalar) buffer Pairs { uint at[2]; };
layout(buffer_reference, buffer_reference_align = 4, scalar) buffer Quads { uint at[4]; };

struct Grid {
   uint64_t slice_B; // from slice to slice
   uint x, y;        // of the box's first element
   uint row;         // tiles from row to row of them
   uint tile;        // sides of a tile: log2 of the width, and of the height from bit 8 on
   uint element_B;   // from element to element
   uint padding;
};

layout(push_constant, scalar) uniform Push {
   uint64_t target_va;
#ifndef CLEAR
   uint64_t source_va;
#endif
   Grid target;
#ifndef CLEAR
   Grid source;
#endif
   uint width, height; // of the box
   uint bytes;         // of each element
#ifdef CLEAR
   uint pattern[4];
#endif
};

// Bit i of value goes to bit 2i.
uint spread(uint value)
{
   value = (value | value << 8) & 0x00ff00ffu;
   value = (value | value << 4) & 0x0f0f0f0fu;
   value = (value | value << 2) & 0x33333333u;
   return (value | value << 1) & 0x55555555u;
}

uint64_t offset_of(Grid grid, uvec3 at)
{
   uint w = grid.tile & 0xff, h = grid.tile >> 8, both = min(w, h);
   uint x = grid.x + at.x, y = grid.y + at.y;
   uint tile = (y >> h) * grid.row + (x >> w);
   uint mask = (1u << both) - 1;
   uint rest = (w > h ? x & (1u << w) - 1 : y & (1u << h) - 1) >> both;
   uint inside = spread(x & mask) | spread(y & mask) << 1 | rest << 2 * both;
   return uint64_t(tile << (w + h) | inside) * grid.element_B + at.z * grid.slice_B;
}

void main()
{
   uvec3 at = gl_GlobalInvocationID;
   if (at.x >= width || at.y >= height)
      return;
   uint64_t to = target_va + offset_of(target, at);
#ifdef CLEAR
   if (bytes >= 16) {
      for (uint i = 0; i < bytes; i += 16)
         Quads(to + i).at = pattern;
   } else if (bytes == 8)
      Pairs(to).at = uint[](pattern[0], pattern[1]);
   else if (bytes == 4)
      Words(to).at = pattern[0];
   else if (bytes == 2)
      Halves(to).at = uint16_t(pattern[0]);
   else
      Bytes(to).at = uint8_t(pattern[0]);
#else
   uint64_t from = source_va + offset_of(source, at);
   if (bytes >= 16) {
      for (uint i = 0; i < bytes; i += 16)
         Quads(to + i).at = Quads(from + i).at;
   } else if (bytes == 8)
      Pairs(to).at = Pairs(from).at;
   else if (bytes == 4)
      Words(to).at = Words(from).at;
   else if (bytes == 2)
      Halves(to).at = Halves(from).at;
   else
      Bytes(to).at = Bytes(from).at;
#endif
}
