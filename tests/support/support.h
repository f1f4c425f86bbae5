/* SPDX-License-Identifier: MIT
 *
 * What every test file needs: cmocka with its prerequisites, paths, files,
 * golden text, and a random number generator with a printed seed.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka 2 renames assert_in_range; cmocka 1, which Debian 12 and 13 have, lacks the new name. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Defines what a test file runs, in place of main(): a body that returns cmocka's number of
 * failures. A test program is made of any number of such files; runner.c runs them. A file's name
 * is that of its source without `_test.c`. */
#define AGX_TEST_FILE(none)                                                                        \
   static int agx_test_run(none);                                                                  \
   static __attribute__((constructor)) void agx_test_register(void)                                \
   {                                                                                               \
      static struct agx_test_file agx_test_this = {__FILE__, agx_test_run, NULL};                  \
      agx_test_file_add(&agx_test_this);                                                           \
   }                                                                                               \
   static int agx_test_run(none)

struct agx_test_file {
   const char *path;
   int (*run)(void);
   struct agx_test_file *next;
};
void agx_test_file_add(struct agx_test_file *file);

/* From now on a fork under AddressSanitizer waits until all other threads sleep; main calls it. */
void agx_test_settle_before_forks(void);

/* What the command line has behind the test file's name; ends with NULL. */
extern char **agx_test_arguments;

/* The path of a file below tests/; the string belongs to the caller (free). */
char *agx_test_path(const char *name);

/* The path of a file in the shared reference folder, or NULL when that folder
 * is not there (the test then calls skip()). Free it. */
char *agx_test_shared_path(const char *name);

/* The whole file, NUL-terminated beyond *size; fails the test when it can't be
 * read. Free it. */
char *agx_test_read_file(const char *path, size_t *size);

/* Compares text with tests/golden/NAME; with AGX_UPDATE_GOLDEN=1 in the
 * environment it writes that file instead. */
void agx_test_golden(const char *name, const char *text);

/* xorshift64*: the same numbers everywhere. The seed must not be 0. */
struct agx_test_rng {
   uint64_t state;
};
uint64_t agx_test_random(struct agx_test_rng *rng);
uint64_t agx_test_random_below(struct agx_test_rng *rng, uint64_t bound);

/* Asserts that a call returned AGX_OK and shows the error text if not. */
#define assert_ok(expr) agx_test_assert_ok((expr), #expr, __FILE__, __LINE__)
void agx_test_assert_ok(int32_t status, const char *expr, const char *file, int line);

/* Asserts that a call failed with code and that the error text holds part. */
#define assert_fails(expr, code, part)                                                             \
   agx_test_assert_fails((expr), (code), (part), #expr, __FILE__, __LINE__)
void agx_test_assert_fails(int32_t status, int32_t code, const char *part, const char *expr,
                           const char *file, int line);
