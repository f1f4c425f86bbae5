/* SPDX-License-Identifier: MIT
 *
 * The table of image formats: names, swizzles, and what each API calls a format.
 */
#include "support.h"

#include <string.h>

#include <GL/gl.h>
#include <GL/glext.h>

#include "agx/format.h"
#include "agx/texel.h"
#include "base/util.h"

static void a_format_is_found_by_each_of_its_names(void **state)
{
   static const char *const names[] = {"R32G32B32A32_FLOAT", "VK_FORMAT_R32G32B32A32_SFLOAT",
                                       "r32g32b32a32_sfloat", "GL_RGBA32F", "rgba32f"};
   for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
      const struct agx_format *format = agx_format_find(names[i]);
      assert_non_null(format);
      assert_string_equal(format->gl_name, "GL_RGBA32F");
      assert_int_equal(format->gl_internal, 0x8814);
      assert_int_equal(format->texel_B, 16);
   }
   assert_null(agx_format_find("rgba33f"));
   assert_null(agx_format_find(""));
}

/* Zeros are zeros in floats of any width, and have their sign where there is one. */
static void zeros_are_packed_as_zeros(void **state)
{
   static const char *const names[] = {"rgba16f", "VK_FORMAT_B10G11R11_UFLOAT_PACK32",
                                       "VK_FORMAT_E5B9G9R9_UFLOAT_PACK32", "rgba32f"};
   static const uint32_t minus[4] = {0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u};
   static const uint32_t plus[4];
   static const uint8_t zeros[16];
   uint8_t texel[16];
   uint16_t halves[4];
   for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
      const struct agx_format *format = agx_format_find(names[i]);
      assert_non_null(format);
      agx_texel_pack(format, plus, texel);
      assert_memory_equal(texel, zeros, format->texel_B);
   }
   agx_texel_pack(agx_format_find("rgba16f"), minus, texel);
   memcpy(halves, texel, sizeof(halves));
   for (size_t i = 0; i < 4; i++)
      assert_int_equal(halves[i], 0x8000);
}

static void names_are_unique_and_swizzles_well_formed(void **state)
{
   for (size_t i = 0; agx_format_at(i); i++) {
      const struct agx_format *format = agx_format_at(i);
      assert_ptr_equal(agx_format_find(format->name), format);
      assert_ptr_equal(agx_format_find(format->gl_name), format);
      assert_int_equal(strspn(format->swizzle, "0123oz"), 4);
      assert_true(format->type <= 4);
      assert_true(format->texel_B && !(format->texel_B & (format->texel_B - 1)));
   }
}

static void gl_names_formats_by_number(void **state)
{
   for (size_t i = 0; agx_format_at(i); i++)
      assert_ptr_equal(agx_format_by_gl(agx_format_at(i)->gl_internal), agx_format_at(i));
   assert_null(agx_format_by_gl(GL_COMPRESSED_RGBA_S3TC_DXT5_EXT));
   assert_null(agx_format_by_gl(0));
}

static void vertex_formats_are_found_by_each_of_their_names(void **state)
{
   static const char *const names[][2] = {
      {"VK_FORMAT_A2B10G10R10_SSCALED_PACK32", "R10G10B10A2_SSCALED"},
      {"A2R10G10B10_UNORM_PACK32", "B10G10R10A2_UNORM"},
      {"VK_FORMAT_A8B8G8R8_SNORM_PACK32", "R8G8B8A8_SNORM"},
      {"B10G11R11_UFLOAT_PACK32", "R11G11B10_FLOAT"},
      {"r32g32b32_sfloat", "R32G32B32_FLOAT"},
      {"b8g8r8a8_unorm", "B8G8R8A8_UNORM"},
   };
   for (size_t i = 0; i < AGX_COUNT(names); i++) {
      const struct agx_vertex_format *format = agx_vertex_format_find(names[i][0]);
      assert_non_null(format);
      assert_string_equal(format->name, names[i][1]);
   }
   for (size_t i = 0; agx_vertex_format_at(i); i++) {
      const struct agx_vertex_format *format = agx_vertex_format_at(i);
      assert_ptr_equal(agx_vertex_format_find(format->name), format);
      assert_true(format->size_B >= 1 && format->size_B <= 16);
      assert_int_equal(format->size_B % agx_vertex_format_unit_B(format), 0);
   }
   assert_null(agx_vertex_format_find("R64_SFLOAT"));
   assert_null(agx_vertex_format_find(""));
}

static void gl_names_attributes(void **state)
{
   static const struct {
      uint32_t size, type;
      bool normalized, integer;
      const char *name; /* NULL: none */
   } cases[] = {
      {4, GL_FLOAT, false, false, "R32G32B32A32_FLOAT"},
      {3, GL_HALF_FLOAT, true, false, "R16G16B16_FLOAT"},
      {2, GL_SHORT, true, false, "R16G16_SNORM"},
      {2, GL_SHORT, false, false, "R16G16_SSCALED"},
      {2, GL_SHORT, false, true, "R16G16_SINT"},
      {1, GL_UNSIGNED_BYTE, false, true, "R8_UINT"},
      {4, GL_UNSIGNED_INT, true, false, "R32G32B32A32_UNORM"},
      {3, GL_FIXED, false, false, "R32G32B32_FIXED"},
      {GL_BGRA, GL_UNSIGNED_BYTE, true, false, "B8G8R8A8_UNORM"},
      {GL_BGRA, GL_INT_2_10_10_10_REV, true, false, "B10G10R10A2_SNORM"},
      {4, GL_UNSIGNED_INT_2_10_10_10_REV, false, false, "R10G10B10A2_USCALED"},
      {3, GL_UNSIGNED_INT_10F_11F_11F_REV, false, false, "R11G11B10_FLOAT"},
      {3, GL_INT_2_10_10_10_REV, true, false, NULL},
      {4, GL_FLOAT, false, true, NULL},
      {4, GL_DOUBLE, false, false, NULL},
      {0, GL_FLOAT, false, false, NULL},
      {5, GL_FLOAT, false, false, NULL},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      const struct agx_vertex_format *format = agx_vertex_format_by_gl(
         cases[i].size, cases[i].type, cases[i].normalized, cases[i].integer);
      if (cases[i].name)
         assert_string_equal(format ? format->name : "none", cases[i].name);
      else
         assert_null(format);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_format_is_found_by_each_of_its_names),
      cmocka_unit_test(zeros_are_packed_as_zeros),
      cmocka_unit_test(names_are_unique_and_swizzles_well_formed),
      cmocka_unit_test(gl_names_formats_by_number),
      cmocka_unit_test(vertex_formats_are_found_by_each_of_their_names),
      cmocka_unit_test(gl_names_attributes),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
