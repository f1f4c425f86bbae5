/* SPDX-License-Identifier: MIT
 *
 * The version script names what the public headers declare, and nothing else; the README
 * shows the program that is tested.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static char *read_text(const char *name)
{
   char *path = agx_test_path(name);
   size_t size;
   char *text = agx_test_read_file(path, &size);
   free(path);
   return text;
}

/* The function that a declaration at text declares: the word before the first '('. */
static size_t declared_name(const char *text, char *name, size_t capacity)
{
   const char *end = strchr(text, '('), *start = end;
   assert_non_null(end);
   while (start > text && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
      start--;
   size_t length = (size_t)(end - start);
   assert_in_range(length, 1, capacity - 2);
   memcpy(name, start, length);
   name[length] = 0;
   return length;
}

static unsigned check_header(const char *header_name, const char *map)
{
   char *header = read_text(header_name), name[80], line[84];
   unsigned count = 0;
   for (const char *at = header; (at = strstr(at, "\nAGX_API ")); at++, count++) {
      declared_name(at + 9, name, sizeof(name));
      snprintf(line, sizeof(line), " %s;", name);
      if (!strstr(map, line))
         fail_msg("agxhal.map lacks %s", name);
   }
   free(header);
   return count;
}

static void the_map_matches_the_headers(void **state)
{
   char *map = read_text("../src/hal/device/agxhal.map");
   char *names = read_text("../include/agx/meson.build");
   unsigned declared = 0, exported = 0;
   for (const char *at = names; (at = strstr(at, "\n  '")); at++) {
      char path[80];
      assert_in_range(
         snprintf(path, sizeof(path), "../include/agx/%.*s", (int)strcspn(at + 4, "'"), at + 4), 1,
         sizeof(path) - 1);
      declared += check_header(path, map);
   }
   free(names);
   for (const char *at = map; (at = strstr(at, "\n   agx_")); at++)
      exported++;
   assert_true(declared > 20);
   assert_int_equal(exported, declared);
   free(map);
}

static void the_readme_shows_the_first_program(void **state)
{
   char *readme = read_text("../README.md"), *program = read_text("hal/first_program.c");
   assert_non_null(strstr(readme, program));
   free(readme);
   free(program);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_map_matches_the_headers),
      cmocka_unit_test(the_readme_shows_the_first_program),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
