/* SPDX-License-Identifier: MIT
 *
 * The README's program: short, compiled against the shared library as the README says, and right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static char folder[] = "/tmp/agx-first-XXXXXX", program[sizeof(folder) + 16];

static int compile(void **state)
{
   char command[4096], *source = agx_test_path("hal/first_program.c");
   const char *compiler = getenv("AGX_TEST_COMPILER");
   assert_non_null(compiler);
   assert_non_null(mkdtemp(folder));
   snprintf(program, sizeof(program), "%s/first_program", folder);
   snprintf(command, sizeof(command), "%s '%s' $(pkg-config --cflags --libs agxhal) -o '%s'",
            compiler, source, program);
   free(source);
   return system(command);
}

static int remove_program(void **state)
{
   unlink(program);
   return rmdir(folder);
}

/* What the program prints; its exit code. */
static int run(const char *argument, char *output, size_t capacity)
{
   char command[4096];
   snprintf(command, sizeof(command), "'%s' '%s' 2>&1", program, argument);
   FILE *pipe = popen(command, "r");
   assert_non_null(pipe);
   size_t length = fread(output, 1, capacity - 1, pipe);
   output[length] = 0;
   return WEXITSTATUS(pclose(pipe));
}

static void it_computes(void **state)
{
   char output[1024], *kernel = agx_test_path("corpus/saxpy.spv");
   int code = run(kernel, output, sizeof(output));
   assert_string_equal(output, "2.5 * 999 + 1 = 2498.5\n");
   assert_int_equal(code, 0);
   free(kernel);
}

static void it_says_what_is_wrong(void **state)
{
   char output[1024];
   assert_int_equal(run("/nowhere/saxpy.spv", output, sizeof(output)), 1);
   assert_string_equal(output, "INVALID_ARGUMENT: executable: no data\n");
}

static void it_is_short(void **state)
{
   char *path = agx_test_path("hal/first_program.c");
   size_t size, lines = 0;
   char *text = agx_test_read_file(path, &size);
   for (size_t i = 0; i < size; i++)
      lines += text[i] == '\n';
   assert_in_range(lines, 1, 60);
   free(text);
   free(path);
}

/* What the README shows is this program, letter by letter. */
static void the_readme_shows_it(void **state)
{
   char *program_path = agx_test_path("hal/first_program.c");
   char *readme_path = agx_test_path("../README.md");
   char *text = agx_test_read_file(program_path, NULL);
   char *readme = agx_test_read_file(readme_path, NULL);
   assert_non_null(strstr(readme, text));
   free(text);
   free(readme);
   free(program_path);
   free(readme_path);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_computes),
      cmocka_unit_test(it_says_what_is_wrong),
      cmocka_unit_test(it_is_short),
      cmocka_unit_test(the_readme_shows_it),
   };
   return cmocka_run_group_tests(tests, compile, remove_program);
}
