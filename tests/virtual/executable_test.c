/* SPDX-License-Identifier: MIT
 *
 * Which programs load the preload library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support.h"
#include "winsys/virtual/doors/executable.h"

static void kinds_are_read_from_the_file(void **state)
{
   char words[200], path[200];
   char name[] = "/tmp/agx-executable-XXXXXX";
   int fd = mkstemp(name);
   assert_true(fd >= 0);
   assert_int_equal(write(fd, "no program", 10), 10);
   close(fd);
   assert_int_equal(agxv_executable_kind(name, words, sizeof(words)), AGXV_EXECUTABLE_UNKNOWN);
   unlink(name);
   assert_int_equal(agxv_executable_kind(name, NULL, 0), AGXV_EXECUTABLE_UNKNOWN);
   assert_int_equal(agxv_executable_kind("/proc/self/exe", words, sizeof(words)),
                    AGXV_EXECUTABLE_DYNAMIC);
   assert_int_equal(agxv_executable_find("/proc/self/exe", path, sizeof(path), NULL, 0),
                    AGXV_EXECUTABLE_DYNAMIC);
   assert_string_equal(path, "/proc/self/exe");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds_are_read_from_the_file),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
