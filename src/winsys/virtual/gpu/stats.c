/* SPDX-License-Identifier: MIT
 *
 * Reads AGX_VIRTUAL_STATS, and writes the statistics of each launch as text. node/ reads
 * the option; worker.c writes before a submission's fence is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx/sim/check/statistics.h"
#include "base/util.h"
#include "winsys/virtual/gpu/faultlog.h"
#include "winsys/virtual/mm/vm.h"

#define TABLE_SPOTS 10u

static bool takes_form(const char *text, const char *form, const char **out_path)
{
   size_t length = strlen(form);
   if (strncmp(text, form, length) != 0 || (text[length] && text[length] != ':'))
      return false;
   *out_path = text[length] ? text + length + 1 : "";
   return true;
}

agx_status agxv_stats_parse(const char *text, struct agxv_stats *out_stats)
{
   const char *path = "";
   *out_stats = (struct agxv_stats){AGXV_STATS_NONE, ""};
   if (!text || !*text || strcmp(text, "0") == 0)
      return AGX_OK;
   if (takes_form(text, "table", &path))
      out_stats->form = AGXV_STATS_TABLE;
   else if (takes_form(text, "json", &path))
      out_stats->form = AGXV_STATS_JSON;
   else
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "AGX_VIRTUAL_STATS=%.40s: it takes table, json, table:FILE, json:FILE or 0",
                      text);
   if (strlen(path) >= sizeof(out_stats->path)) {
      out_stats->form = AGXV_STATS_NONE;
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "AGX_VIRTUAL_STATS: a path of %zu bytes; it takes up to %zu", strlen(path),
                      sizeof(out_stats->path) - 1);
   }
   memcpy(out_stats->path, path, strlen(path));
   return AGX_OK;
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

/* Counters of launches, handed to the profiler of a file of this process. */

int agx_virtual_watch_counters(struct agx_virtual_file *file, agx_virtual_counters_fn *fn,
                               void *user)
{
   struct agx_virtual_node *node = file->node;
   if (fn && node->options.chaos_seed)
      return -EOPNOTSUPP;
   pthread_mutex_lock(&node->local);
   node->counters_fn = fn;
   node->counters_user = user;
   node->counters_file = file->ref;
   node->counts = fn != NULL;
   pthread_mutex_unlock(&node->local);
   return 0;
}

void agxv_report_counters(const struct agxv_execution *execution,
                          const struct agxs_dispatch_stats *stats)
{
   struct agx_virtual_node *node = execution->node;
   const struct agx_virtual_counters counters = {
      .submission = execution->number,
      .stream_va = execution->stream_va,
      .command = execution->command,
      .stats = stats,
   };
   pthread_mutex_lock(&node->local);
   if (node->counters_fn && execution->vm->file == node->counters_file)
      node->counters_fn(node->counters_user, &counters);
   pthread_mutex_unlock(&node->local);
}

/* The list of declared bounds. kmd_virtual.c enters what a client declares; worker.c looks
 * bounds up when a command executes. */

/* node->local is held for both. */
static void drop(struct agxv_declared_bounds *bounds)
{
   if (--bounds->refs == 0)
      free(bounds);
}

static void forget(struct agx_virtual_node *node, uint64_t stream_va)
{
   struct agxv_declared_bounds **link = &node->declared_bounds;
   while (*link && (*link)->stream_va != stream_va)
      link = &(*link)->next;
   struct agxv_declared_bounds *found = *link;
   if (!found)
      return;
   *link = found->next;
   drop(found);
}

int agx_virtual_declare_bounds(struct agx_virtual_node *node, uint64_t stream_va,
                               const struct agxs_range *ranges, uint32_t count)
{
   struct agxv_declared_bounds *bounds = NULL;
   if (count) {
      bounds = malloc(sizeof(*bounds) + count * sizeof(bounds->ranges[0]));
      if (!bounds)
         return -ENOMEM;
      *bounds = (struct agxv_declared_bounds){.stream_va = stream_va, .refs = 1, .count = count};
      memcpy(bounds->ranges, ranges, count * sizeof(bounds->ranges[0]));
   }
   pthread_mutex_lock(&node->local);
   forget(node, stream_va);
   if (bounds) {
      bounds->next = node->declared_bounds;
      node->declared_bounds = bounds;
   }
   pthread_mutex_unlock(&node->local);
   return 0;
}

struct agxv_declared_bounds *agxv_bounds_get(struct agx_virtual_node *node, uint64_t stream_va)
{
   pthread_mutex_lock(&node->local);
   struct agxv_declared_bounds *bounds = node->declared_bounds;
   while (bounds && bounds->stream_va != stream_va)
      bounds = bounds->next;
   if (bounds)
      bounds->refs++;
   pthread_mutex_unlock(&node->local);
   return bounds;
}

void agxv_bounds_put(struct agx_virtual_node *node, struct agxv_declared_bounds *bounds)
{
   if (!bounds)
      return;
   pthread_mutex_lock(&node->local);
   drop(bounds);
   pthread_mutex_unlock(&node->local);
}

void agxv_bounds_fini(struct agx_virtual_node *node)
{
   while (node->declared_bounds)
      forget(node, node->declared_bounds->stream_va);
}
