/* SPDX-License-Identifier: MIT */
#include "run_stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/status.h"

agx_status agx_run_stats_begin(bool is_json, int *out_fd)
{
   char value[64];
   *out_fd = memfd_create("agx-statistics", MFD_CLOEXEC);
   if (*out_fd < 0)
      return agx_status_fail_errno(errno, "statistics: memory file");
   snprintf(value, sizeof(value), "%s:/proc/self/fd/%d", is_json ? "json" : "table", *out_fd);
   if (setenv("AGX_VIRTUAL_STATS", value, 1) != 0)
      return agx_status_fail_errno(errno, "environment: AGX_VIRTUAL_STATS");
   return AGX_OK;
}

/* A line is an object. */
static void print_objects(FILE *from, struct agx_json *json)
{
   agx_json_open(json, "statistics", '[');
   for (int byte, before = '\n'; (byte = getc(from)) != EOF; before = byte) {
      if (before == '\n')
         agx_json_name(json, NULL);
      if (byte != '\n')
         fputc(byte, json->file);
   }
   agx_json_close(json, ']');
}

agx_status agx_run_stats_print(int fd, struct agx_json *json)
{
   int own = dup(fd);
   FILE *from = own >= 0 && lseek(own, 0, SEEK_SET) == 0 ? fdopen(own, "r") : NULL;
   if (!from) {
      int error = errno;
      if (own >= 0)
         close(own);
      return agx_status_fail_errno(error, "statistics");
   }
   if (json)
      print_objects(from, json);
   else
      for (int byte; (byte = getc(from)) != EOF;)
         putchar(byte);
   fclose(from);
   return AGX_OK;
}
