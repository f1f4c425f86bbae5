/* SPDX-License-Identifier: MIT
 *
 * The command line of agxdump: reads a capture and prints it with dump_show().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agxdump.h"

#define MAX_FILE_B (UINT64_C(4) << 30)

static const char help[] =
   "usage: agxdump show [--json] FILE\n"
   "\n"
   "Prints a capture, which a program writes when it runs with AGX_CAPTURE=FILE:\n"
   "submissions with their waits and signals, the words of each compute stream by\n"
   "name, launch words, and the code of the kernels. docs/capture.md describes the file.\n"
   "\n"
   "  --json   print one object: {\"node\", \"submissions\": [...]}, and \"error\" where FILE ends "
   "early\n";

static agx_status read_file(const char *path, uint8_t **out_data, size_t *out_size)
{
   FILE *file = fopen(path, "rb");
   if (!file)
      return agx_status_fail_errno(errno, "%s", path);
   size_t capacity = 1 << 16, size = 0;
   uint8_t *data = malloc(capacity);
   for (size_t got; data && (got = fread(data + size, 1, capacity - size, file)) > 0;) {
      size += got;
      if (size < capacity)
         continue;
      capacity *= 2;
      uint8_t *larger = capacity <= MAX_FILE_B ? realloc(data, capacity) : NULL;
      if (!larger)
         free(data);
      data = larger;
   }
   bool failed = ferror(file);
   fclose(file);
   if (!data)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: too large (%zu bytes and more)", path, size);
   if (failed) {
      free(data);
      return AGX_FAIL(AGX_DATA_LOSS, "%s: can't be read", path);
   }
   *out_data = data;
   *out_size = size;
   return AGX_OK;
}

static agx_status show(struct dump *dump, const char *path)
{
   uint8_t *data = NULL;
   size_t size = 0;
   AGX_TRY(read_file(path, &data, &size));
   agx_status status = dump_show(dump, data, size);
   free(data);
   if (status != AGX_OK)
      agx_error_prefix("%s", path);
   return status;
}

int main(int argc, char **argv)
{
   struct dump dump = {.json = {.file = stdout}};
   const char *path = NULL, *command = argc > 1 ? argv[1] : "";
   bool wrong = strcmp(command, "show") != 0;
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
         fputs(help, stdout);
         return 0;
      }
   }
   for (int i = 2; i < argc && !wrong; i++) {
      if (strcmp(argv[i], "--json") == 0)
         dump.is_json = true;
      else if (argv[i][0] == '-' || path)
         wrong = true;
      else
         path = argv[i];
   }
   if (wrong || !path) {
      fputs(help, stderr);
      return 2;
   }
   agx_status status = show(&dump, path);
   const bool is_short = fflush(stdout) != 0 || ferror(stdout);
   if (is_short)
      fprintf(stderr, "agxdump: standard output can't be written: %s\n", strerror(errno));
   if (status != AGX_OK)
      fprintf(stderr, "agxdump: %s\n", agx_error_peek());
   return status == AGX_OK && !is_short ? 0 : 1;
}
