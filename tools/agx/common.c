/* SPDX-License-Identifier: MIT
 *
 * What every command needs: reading and writing files, and telling what went wrong.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx.h"
#include "base/status.h"

#define MAX_FILE_B (1ull << 30)

static agx_status read_stream(FILE *file, const char *name, uint8_t **out_data, size_t *out_size)
{
   size_t capacity = 0, size = 0;
   uint8_t *data = NULL;
   for (;;) {
      if (size + 1 >= capacity) {
         capacity = capacity ? 2 * capacity : 4096;
         uint8_t *larger = capacity <= MAX_FILE_B ? realloc(data, capacity) : NULL;
         if (!larger) {
            free(data);
            return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: too large (%zu bytes and more)", name,
                            size);
         }
         data = larger;
      }
      size_t got = fread(data + size, 1, capacity - 1 - size, file);
      if (got == 0)
         break;
      size += got;
   }
   if (ferror(file)) {
      free(data);
      return agx_status_fail_errno(errno, "%s", name);
   }
   data[size] = 0;
   *out_data = data;
   *out_size = size;
   return AGX_OK;
}

const char *agx_tool_name(const char *path)
{
   return !path || strcmp(path, "-") == 0 ? "standard input" : path;
}

agx_status agx_tool_read(const char *path, uint8_t **out_data, size_t *out_size)
{
   *out_data = NULL;
   *out_size = 0;
   if (!path || strcmp(path, "-") == 0)
      return read_stream(stdin, agx_tool_name(path), out_data, out_size);
   FILE *file = fopen(path, "rb");
   if (!file)
      return agx_status_fail_errno(errno, "%s", path);
   agx_status status = read_stream(file, path, out_data, out_size);
   fclose(file);
   return status;
}

agx_status agx_tool_write(const char *path, const void *bytes, size_t size)
{
   FILE *file = fopen(path, "wb");
   if (!file)
      return agx_status_fail_errno(errno, "%s", path);
   bool wrote = fwrite(bytes, 1, size, file) == size;
   if (fclose(file) != 0 || !wrote)
      return agx_status_fail_errno(errno, "%s", path);
   return AGX_OK;
}

int agx_tool_kernel_name(const char *path, const char **out_start)
{
   const char *slash = strrchr(path, '/');
   *out_start = slash ? slash + 1 : path;
   const char *dot = strrchr(*out_start, '.');
   return (int)(dot && dot != *out_start ? (size_t)(dot - *out_start) : strlen(*out_start));
}

int agx_tool_failed(const char *command)
{
   fflush(stdout);
   fprintf(stderr, "agx %s: %s\n", command, agx_error_peek());
   return AGX_EXIT_FAILURE;
}

int agx_tool_usage(const char *command, const char *format, ...)
{
   va_list args;
   fflush(stdout);
   fprintf(stderr, "agx %s: ", command);
   va_start(args, format);
   vfprintf(stderr, format, args);
   va_end(args);
   fprintf(stderr, "; see `agx %s --help`\n", command);
   return AGX_EXIT_USAGE;
}
