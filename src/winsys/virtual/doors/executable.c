/* SPDX-License-Identifier: MIT
 *
 * Tells by its ELF headers, or its #! line, whether a program loads the preload library; the
 * preload library asks before it executes one, and `agx virtual` before it starts one. Reads only
 * the first page and the program headers.
 */
#include "winsys/virtual/doors/executable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_SCRIPTS 4 /* interpreters of interpreters, as in the kernel */
#define MAX_HEADERS 128
#define HEAD_BYTES  512

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "the preload library is for x86_64 and aarch64"
#endif

/* Programs that get rights which their caller lacks; the loader then ignores LD_PRELOAD. */
static bool gains_rights(int fd)
{
   struct stat info;
   if (fstat(fd, &info))
      return false;
   if ((info.st_mode & S_ISUID && info.st_uid != getuid()) ||
       (info.st_mode & S_ISGID && info.st_mode & S_IXGRP && info.st_gid != getgid()))
      return true;
   return getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static bool has_interpreter(int fd, const Elf64_Ehdr *header, bool *out_readable)
{
   unsigned count = header->e_phnum;
   *out_readable = header->e_phentsize == sizeof(Elf64_Phdr) && count <= MAX_HEADERS;
   for (unsigned i = 0; i < count && *out_readable; i++) {
      Elf64_Phdr it;
      off_t at = (off_t)(header->e_phoff + i * sizeof(it));
      *out_readable = pread(fd, &it, sizeof(it), at) == (ssize_t)sizeof(it);
      if (*out_readable && it.p_type == PT_INTERP)
         return true;
   }
   return false;
}

static enum agxv_executable elf_kind(int fd, const char *path, const void *head, size_t length,
                                     char *words, size_t capacity)
{
   Elf64_Ehdr header;
   bool is_readable;
   if (length < sizeof(header))
      return AGXV_EXECUTABLE_UNKNOWN;
   memcpy(&header, head, sizeof(header));
   if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != OWN_MACHINE) {
      snprintf(words, capacity, "%s: a program of another kind of processor (machine %u, %s bit)",
               path, header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32");
      return AGXV_EXECUTABLE_REFUSED;
   }
   if (gains_rights(fd)) {
      snprintf(words, capacity,
               "%s: a set-user-id program, or one with capabilities, loads no library from outside",
               path);
      return AGXV_EXECUTABLE_REFUSED;
   }
   if (has_interpreter(fd, &header, &is_readable))
      return AGXV_EXECUTABLE_DYNAMIC;
   return is_readable ? AGXV_EXECUTABLE_STATIC : AGXV_EXECUTABLE_UNKNOWN;
}

/* The interpreter of a script's first line goes to path. */
static bool read_script(const char *head, char *path, size_t capacity)
{
   const char *at = head + 2;
   at += strspn(at, " \t");
   size_t length = strcspn(at, " \t\n");
   if (length == 0 || length >= capacity)
      return false;
   memcpy(path, at, length);
   path[length] = 0;
   return true;
}

enum agxv_executable agxv_executable_kind(const char *path, char *words, size_t capacity)
{
   char head[HEAD_BYTES + 1], interpreter[HEAD_BYTES] = "";
   if (words && capacity)
      words[0] = 0;
   for (int depth = 0; depth <= MAX_SCRIPTS; depth++) {
      int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
      if (fd < 0)
         return AGXV_EXECUTABLE_UNKNOWN;
      ssize_t length = pread(fd, head, HEAD_BYTES, 0);
      head[length > 0 ? length : 0] = 0;
      if (length >= 4 && memcmp(head, ELFMAG, SELFMAG) == 0) {
         enum agxv_executable kind =
            elf_kind(fd, path, head, (size_t)length, words, words ? capacity : 0);
         close(fd);
         return kind;
      }
      close(fd);
      if (length < 2 || head[0] != '#' || head[1] != '!' ||
          !read_script(head, interpreter, sizeof(interpreter)))
         return AGXV_EXECUTABLE_UNKNOWN;
      path = interpreter;
   }
   return AGXV_EXECUTABLE_UNKNOWN;
}

/* The next folder of PATH before *at, with the command appended; false at the end. */
static bool next_candidate(const char **at, const char *command, char *path, size_t capacity)
{
   if (!*at)
      return false;
   size_t length = strcspn(*at, ":");
   int needed =
      snprintf(path, capacity, "%.*s%s%s", (int)length, *at, length ? "/" : "./", command);
   *at = (*at)[length] ? *at + length + 1 : NULL;
   if (needed < 0 || (size_t)needed >= capacity)
      path[0] = 0;
   return true;
}

enum agxv_executable agxv_executable_find(const char *command, char *path, size_t path_capacity,
                                          char *words, size_t capacity)
{
   const char *folders = getenv("PATH");
   struct stat info;
   snprintf(path, path_capacity, "%s", command);
   if (strchr(command, '/'))
      return agxv_executable_kind(path, words, capacity);
   const char *at = folders ? folders : "/bin:/usr/bin";
   while (next_candidate(&at, command, path, path_capacity))
      if (path[0] && access(path, X_OK) == 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode))
         return agxv_executable_kind(path, words, capacity);
   snprintf(path, path_capacity, "%s", command);
   return AGXV_EXECUTABLE_UNKNOWN;
}

/* ---- our libraries ---- */

/* AGX_LIBDIR is meson's libdir: relative to the tree, such as lib64 or lib/aarch64-linux-gnu, or
 * absolute. */
static agx_status find_library(const char *name, const char *variable, char *path, size_t capacity)
{
   char self[512];
   ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
   if (length < 0)
      return agx_status_fail_errno(errno, "/proc/self/exe");
   self[length] = 0;
   for (int i = 0; i < 2 && strrchr(self, '/'); i++)
      *strrchr(self, '/') = 0;
   if (AGX_LIBDIR[0] == '/')
      self[0] = 0;
   else
      strncat(self, "/", sizeof(self) - strlen(self) - 1);
   snprintf(path, capacity, "%s%s/%s", self, AGX_LIBDIR, name);
   const char *given = getenv(variable);
   if (given && *given)
      snprintf(path, capacity, "%s", given);
   if (access(path, R_OK) == 0)
      return AGX_OK;
   return AGX_FAIL(AGX_NOT_FOUND, "%s: not there; install it (make build), or name it in %s", path,
                   variable);
}

agx_status agxv_preload(const char *name, const char *variable)
{
   char library[600], all[4096];
   const char *earlier = getenv("LD_PRELOAD");
   AGX_TRY(find_library(name, variable, library, sizeof(library)));
   size_t own = strlen(library);
   if (earlier && strncmp(earlier, library, own) == 0 && strchr(" :", earlier[own]))
      return AGX_OK;
   int length = snprintf(all, sizeof(all), "%s%s%s", library, earlier && *earlier ? ":" : "",
                         earlier ? earlier : "");
   if (length < 0 || (size_t)length >= sizeof(all))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "LD_PRELOAD: %zu bytes are too long", strlen(earlier));
   if (setenv("LD_PRELOAD", all, 1) != 0)
      return agx_status_fail_errno(errno, "environment: LD_PRELOAD");
   return AGX_OK;
}
