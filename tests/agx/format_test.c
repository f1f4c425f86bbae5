/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>

#include "agx/format.h"

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

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_format_is_found_by_each_of_its_names),
      cmocka_unit_test(names_are_unique_and_swizzles_well_formed),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
