/* SPDX-License-Identifier: MIT
 *
 * Reads AGX_VIRTUAL_STATS, and writes the statistics of each launch as text. node/ reads
 * the option; worker.c writes before a submission's fence is done.
 */
#include "winsys/virtual/gpu/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx/sim/check/report.h"
#include "base/util.h"

#define TABLE_SPOTS 10u

static bool takes_form(const char *text, const char *form, const char **out_path)
{
   size_t length = strlen(form);
   if (strncmp(text, form, length) != 0 || (text[length] && text[length] != ':'))
      return false;
   *out_path = text[length] ? text + length + 1 : "";
   return true;
}

struct agxv_stats agxv_stats_parse(const char *text)
{
   struct agxv_stats stats = {AGXV_STATS_NONE, ""};
   const char *path = "";
   if (!text || !*text || strcmp(text, "0") == 0)
      return stats;
   if (takes_form(text, "table", &path))
      stats.form = AGXV_STATS_TABLE;
   else if (takes_form(text, "json", &path))
      stats.form = AGXV_STATS_JSON;
   else
      fprintf(stderr,
              "agx virtual: AGX_VIRTUAL_STATS=%s: neither table nor json, with or without "
              ":FILE\n",
              text);
   if (strlen(path) >= sizeof(stats.path)) {
      fprintf(stderr, "agx virtual: AGX_VIRTUAL_STATS: the path is too long\n");
      return (struct agxv_stats){AGXV_STATS_NONE, ""};
   }
   memcpy(stats.path, path, strlen(path));
   return stats;
}

static bool write_all(int fd, const char *text, size_t length)
{
   while (length) {
      ssize_t done = write(fd, text, length);
      if (done < 0 && errno == EINTR)
         continue;
      if (done < 0)
         return false;
      text += done;
      length -= (size_t)done;
   }
   return true;
}

/* The file is opened each time: descriptors are the program's, which may close any. */
static bool append(const struct agxv_stats *stats, const char *text, size_t length)
{
   if (!stats->path[0])
      return write_all(STDERR_FILENO, text, length);
   int fd = open(stats->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
   if (fd < 0)
      return false;
   bool done = write_all(fd, text, length);
   return close(fd) == 0 && done;
}

void agxv_stats_write(const struct agxv_stats *stats, uint64_t submission, uint32_t command,
                      const struct agxs_dispatch_stats *dispatch)
{
   const struct agxs_origin origin = {submission, command};
   char *text = NULL;
   size_t length = 0;
   FILE *memory = open_memstream(&text, &length);
   if (memory && stats->form == AGXV_STATS_JSON)
      agxs_report_json(memory, dispatch, &origin);
   else if (memory)
      agxs_report_table(memory, dispatch, &origin, TABLE_SPOTS);
   bool done = memory && fclose(memory) == 0;
   if (!done || !append(stats, text, length))
      fprintf(stderr, "agx virtual: statistics of submission %llu can't be written: %s\n",
              (unsigned long long)submission, strerror(errno));
   free(text);
}
