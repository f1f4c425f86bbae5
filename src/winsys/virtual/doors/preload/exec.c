/* SPDX-License-Identifier: MIT
 *
 * Executing other programs under `agx virtual`. Those that won't load this library are
 * started through `agx virtual --attach`, which serves their system calls, or refused;
 * and those that are given an environment of their own still get what leads them to the
 * device. Nothing here allocates: the caller may be a child of vfork.
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/doors/executable.h"
#include "winsys/virtual/doors/preload/preload_impl.h"

#define MAX_KEPT 4096 /* bytes of a variable */

/* What programs need, also to be recorded; as it was when this one started. LD_PRELOAD is the
 * first. */
static struct kept {
   const char *name;
   char text[MAX_KEPT]; /* NAME=value; empty: there was none */
} kept[] = {
   {"LD_PRELOAD", ""}, {"AGX_VIRTUAL_SEGMENT", ""}, {"AGX_VIRTUAL_TOOL", ""},
   {"AGX_DEVICE", ""}, {"AGX_CAPTURE", ""},         {"AGX_CAPTURE_OPTIONS", ""},
};

static const char *tool; /* the agx program; NULL: not under agx virtual */

__attribute__((constructor)) static void keep(void)
{
   for (size_t i = 0; i < AGX_COUNT(kept); i++) {
      const char *value = getenv(kept[i].name);
      size_t length = strlen(kept[i].name), rest = value ? strlen(value) : MAX_KEPT;
      if (length + rest + 2 > MAX_KEPT)
         continue;
      memcpy(kept[i].text, kept[i].name, length);
      kept[i].text[length] = '=';
      memcpy(kept[i].text + length + 1, value, rest + 1);
   }
   const char *value = strchr(kept[2].text, '=');
   tool = value && value[1] ? value + 1 : NULL;
}

static size_t count_of(char *const list[])
{
   size_t count = 0;
   while (list && list[count])
      count++;
   return count;
}

static bool is_set(char *const environment[], const char *name)
{
   size_t length = strlen(name);
   for (size_t i = 0; environment && environment[i]; i++)
      if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=')
         return true;
   return false;
}

/* The tool itself must see the machine as it is; it takes the name's front off again. */
#define HIDDEN "AGX_VIRTUAL_"
static char *hidden(void)
{
   static char text[sizeof(HIDDEN) + MAX_KEPT];
   memcpy(text, HIDDEN, sizeof(HIDDEN) - 1);
   memcpy(text + sizeof(HIDDEN) - 1, kept[0].text, MAX_KEPT);
   return text;
}

/* What is kept is put into environments that were made anew, which shows by LD_PRELOAD; who
 * only takes one variable out means it. to has room for all of from, what is kept, and the
 * end. */
static char **complete(char **to, char *const from[], bool is_for_tool)
{
   size_t count = 0;
   for (size_t i = 0; from && from[i]; i++)
      if (!is_for_tool || strncmp(from[i], "LD_PRELOAD=", 11) != 0)
         to[count++] = from[i];
   if (is_for_tool)
      to[count++] = hidden();
   bool is_new = !is_set(from, kept[0].name);
   for (size_t i = is_for_tool; is_new && i < AGX_COUNT(kept); i++)
      if (kept[i].text[0] && !is_set(from, kept[i].name))
         to[count++] = kept[i].text;
   to[count] = NULL;
   return to;
}

#define ENVIRONMENT(from, is_for_tool)                                                             \
   complete(alloca((count_of(from) + AGX_COUNT(kept) + 1) * sizeof(char *)), from, is_for_tool)

/* agx virtual --attach -- PATH NAME ARGUMENTS... */
#define TOOL_ARGUMENTS 5
static char **through_tool(char **to, const char *path, char *const from[])
{
   static const char *const first[] = {"agx", "virtual", "--attach", "--"};
   size_t count = count_of(from);
   for (size_t i = 0; i < AGX_COUNT(first); i++)
      to[i] = (char *)first[i];
   to[4] = (char *)path;
   if (count)
      memcpy(to + TOOL_ARGUMENTS, from, count * sizeof(*to));
   to[TOOL_ARGUMENTS + count] = NULL;
   return to;
}

#define THROUGH_TOOL(path, from)                                                                   \
   through_tool(alloca((TOOL_ARGUMENTS + count_of(from) + 1) * sizeof(char *)), path, from)

/* How the program is to be started: 0 as asked, 1 through the tool, or a negative errno. Its
 * path goes to path where it is looked for. */
static int way_of(const char *file, bool is_looked_for, char path[PATH_MAX])
{
   char words[PATH_MAX + 200];
   int error = errno;
   if (!tool || agxv_is_inside() || !file)
      return 0;
   agxv_enter();
   enum agxv_executable kind = is_looked_for
                                  ? agxv_executable_find(file, path, PATH_MAX, words, sizeof(words))
                                  : agxv_executable_kind(file, words, sizeof(words));
   agxv_leave();
   errno = error;
   if (!is_looked_for)
      snprintf(path, PATH_MAX, "%s", file);
   if (kind == AGXV_EXECUTABLE_STATIC)
      return strcmp(path, tool) != 0;
   if (kind != AGXV_EXECUTABLE_REFUSED)
      return 0;
   dprintf(STDERR_FILENO, "agx virtual: %s\n", words);
   return -EACCES;
}

AGXV_EXPORT int execve(const char *file, char *const arguments[], char *const environment[])
{
   AGXV_NEXT(execve);
   char path[PATH_MAX];
   int way = way_of(file, false, path);
   if (way < 0)
      return agxv_to_errno(way);
   if (way)
      return next_execve(tool, THROUGH_TOOL(path, arguments), ENVIRONMENT(environment, true));
   return next_execve(file, arguments,
                      tool ? ENVIRONMENT(environment, false) : (char **)environment);
}

AGXV_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
   AGXV_NEXT(execvpe);
   AGXV_NEXT(execve);
   char path[PATH_MAX];
   int way = way_of(file, true, path);
   if (way < 0)
      return agxv_to_errno(way);
   if (way)
      return next_execve(tool, THROUGH_TOOL(path, arguments), ENVIRONMENT(environment, true));
   return next_execvpe(file, arguments,
                       tool ? ENVIRONMENT(environment, false) : (char **)environment);
}

AGXV_EXPORT int execv(const char *file, char *const arguments[])
{
   return execve(file, arguments, environ);
}

AGXV_EXPORT int execvp(const char *file, char *const arguments[])
{
   return execvpe(file, arguments, environ);
}

AGXV_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
   AGXV_NEXT(fexecve);
   char link[64], path[PATH_MAX];
   snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
   int way = way_of(link, false, path);
   if (way < 0)
      return agxv_to_errno(way);
   if (way) { /* by its name: the descriptor may be closed by then */
      agxv_enter();
      ssize_t length = readlink(link, path, sizeof(path) - 1);
      agxv_leave();
      path[length > 0 ? length : 0] = 0;
      return execve(path, arguments, environment);
   }
   return next_fexecve(fd, arguments,
                       tool ? ENVIRONMENT(environment, false) : (char **)environment);
}

/* Collects the arguments up to NULL. */
#define COLLECT(first)                                                                             \
   size_t count = 1;                                                                               \
   va_list list;                                                                                   \
   va_start(list, first);                                                                          \
   while (va_arg(list, char *))                                                                    \
      count++;                                                                                     \
   va_end(list);                                                                                   \
   char **arguments = alloca((count + 1) * sizeof(*arguments));                                    \
   arguments[0] = (char *)first;                                                                   \
   va_start(list, first);                                                                          \
   for (size_t i = 1; i <= count; i++)                                                             \
      arguments[i] = va_arg(list, char *);

AGXV_EXPORT int execl(const char *file, const char *first, ...)
{
   COLLECT(first)
   va_end(list);
   return execve(file, arguments, environ);
}

AGXV_EXPORT int execlp(const char *file, const char *first, ...)
{
   COLLECT(first)
   va_end(list);
   return execvpe(file, arguments, environ);
}

AGXV_EXPORT int execle(const char *file, const char *first, ...)
{
   COLLECT(first)
   char *const *environment = va_arg(list, char *const *);
   va_end(list);
   return execve(file, arguments, environment);
}

AGXV_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict file,
                            const posix_spawn_file_actions_t *restrict actions,
                            const posix_spawnattr_t *restrict attributes,
                            char *const arguments[restrict], char *const environment[restrict])
{
   AGXV_NEXT(posix_spawn);
   char path[PATH_MAX];
   int way = way_of(file, false, path);
   if (way < 0)
      return -way;
   char **own = tool ? ENVIRONMENT(environment, way != 0) : (char **)environment;
   if (way)
      return next_posix_spawn(pid, tool, actions, attributes, THROUGH_TOOL(path, arguments), own);
   return next_posix_spawn(pid, file, actions, attributes, arguments, own);
}

AGXV_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                             const posix_spawn_file_actions_t *restrict actions,
                             const posix_spawnattr_t *restrict attributes,
                             char *const arguments[restrict], char *const environment[restrict])
{
   AGXV_NEXT(posix_spawn);
   AGXV_NEXT(posix_spawnp);
   char path[PATH_MAX];
   int way = way_of(file, true, path);
   if (way < 0)
      return -way;
   char **own = tool ? ENVIRONMENT(environment, way != 0) : (char **)environment;
   if (way)
      return next_posix_spawn(pid, tool, actions, attributes, THROUGH_TOOL(path, arguments), own);
   return next_posix_spawnp(pid, file, actions, attributes, arguments, own);
}
