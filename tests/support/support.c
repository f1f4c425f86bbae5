/* SPDX-License-Identifier: MIT
 *
 * What every test program needs besides its cases: paths, files, golden text, random numbers,
 * checks of status. The header says what each function does.
 */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

static char *join(const char *directory, const char *name)
{
   size_t room = strlen(directory) + strlen(name) + 2;
   char *path = malloc(room);
   if (!path)
      fail_msg("out of memory");
   snprintf(path, room, "%s/%s", directory, name);
   return path;
}

char *agx_test_path(const char *name)
{
   const char *directory = getenv("AGX_TEST_SOURCE_DIR");
   return join(directory ? directory : "tests", name);
}

char *agx_test_shared_path(const char *name)
{
   const char *directory = getenv("AGX_TEST_SHARED_DIR");
   char *path = join(directory ? directory : "../shared", name);
   if (access(path, R_OK) == 0)
      return path;
   free(path);
   return NULL;
}

char *agx_test_read_file(const char *path, size_t *size)
{
   FILE *file = fopen(path, "rb");
   if (!file)
      fail_msg("%s: %s", path, strerror(errno));
   size_t capacity = 4096, length = 0;
   char *data = malloc(capacity + 1);
   assert_non_null(data);
   for (size_t got; (got = fread(data + length, 1, capacity - length, file)) > 0;) {
      length += got;
      if (length == capacity) {
         capacity *= 2;
         data = realloc(data, capacity + 1);
         assert_non_null(data);
      }
   }
   if (ferror(file))
      fail_msg("%s: read error", path);
   fclose(file);
   data[length] = 0;
   if (size)
      *size = length;
   return data;
}

static void write_file(const char *path, const char *text)
{
   FILE *file = fopen(path, "wb");
   if (!file || fputs(text, file) < 0 || fclose(file) != 0)
      fail_msg("%s: %s", path, strerror(errno));
}

/* Prints the first line in which two texts differ. */
static void show_difference(const char *name, const char *want, const char *got)
{
   int line = 1;
   const char *want_line = want, *got_line = got;
   for (; *want && *want == *got; want++, got++) {
      if (*want == '\n') {
         line++;
         want_line = want + 1;
         got_line = got + 1;
      }
   }
   print_error("%s:%d differs\n  want: %.*s\n  got:  %.*s\n", name, line,
               (int)strcspn(want_line, "\n"), want_line, (int)strcspn(got_line, "\n"), got_line);
}

void agx_test_golden(const char *name, const char *text)
{
   char *golden = join("golden", name);
   char *path = agx_test_path(golden);
   if (getenv("AGX_UPDATE_GOLDEN")) {
      write_file(path, text);
   } else {
      char *want = agx_test_read_file(path, NULL);
      if (strcmp(want, text) != 0) {
         show_difference(golden, want, text);
         fail();
      }
      free(want);
   }
   free(path);
   free(golden);
}

uint64_t agx_test_random(struct agx_test_rng *rng)
{
   uint64_t x = rng->state;
   x ^= x >> 12;
   x ^= x << 25;
   x ^= x >> 27;
   rng->state = x;
   return x * 0x2545f4914f6cdd1dull;
}

uint64_t agx_test_random_below(struct agx_test_rng *rng, uint64_t bound)
{
   return agx_test_random(rng) % bound;
}

void agx_test_assert_ok(int32_t status, const char *expr, const char *file, int line)
{
   if (status == AGX_OK)
      return;
   print_error("%s: %s (%s)\n", expr, agx_error_peek(), agx_status_name(status));
   _fail(file, line);
}

void agx_test_assert_fails(int32_t status, int32_t code, const char *part, const char *expr,
                           const char *file, int line)
{
   if (status == code && strstr(agx_error_peek(), part))
      return;
   print_error("%s: got %s \"%s\", want %s with \"%s\"\n", expr, agx_status_name(status),
               agx_error_peek(), agx_status_name(code), part);
   _fail(file, line);
}
