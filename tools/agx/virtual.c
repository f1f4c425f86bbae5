/* SPDX-License-Identifier: MIT
 *
 * agx virtual: runs a program that sees the virtual AGX as a render node, by preloading
 * libagx_virtual.so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx.h"
#include "agx/chip.h"
#include "base/status.h"

#define LIBRARY "libagx_virtual.so"

/* The library beside this program: ../lib of an installed tree. */
static agx_status find_library(char *path, size_t capacity)
{
   char self[512];
   ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
   if (length < 0)
      return agx_status_fail_errno(errno, "/proc/self/exe");
   self[length] = 0;
   for (int i = 0; i < 2 && strrchr(self, '/'); i++)
      *strrchr(self, '/') = 0;
   snprintf(path, capacity, "%s/lib/" LIBRARY, self);
   const char *given = getenv("AGX_VIRTUAL_LIBRARY");
   if (given && *given)
      snprintf(path, capacity, "%s", given);
   if (access(path, R_OK) == 0)
      return AGX_OK;
   return AGX_FAIL(AGX_NOT_FOUND,
                   "%s: not there; install it (make build), or name it in AGX_VIRTUAL_LIBRARY",
                   path);
}

static agx_status set_environment(const char *chip)
{
   char library[600], preload[1400], device[64];
   const char *earlier = getenv("LD_PRELOAD");
   AGX_TRY(find_library(library, sizeof(library)));
   int length = snprintf(preload, sizeof(preload), "%s%s%s", library,
                         earlier && *earlier ? ":" : "", earlier ? earlier : "");
   if (length < 0 || (size_t)length >= sizeof(preload))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "LD_PRELOAD is too long");
   snprintf(device, sizeof(device), "virtual:%s", chip);
   if (setenv("LD_PRELOAD", preload, 1) != 0 || setenv("AGX_DEVICE", device, 1) != 0)
      return agx_status_fail_errno(errno, "environment");
   return AGX_OK;
}

int agx_cmd_virtual(int argc, char **argv)
{
   const struct agx_chip *chip = agx_chip_at(0);
   int at = 1;
   for (; at < argc && argv[at][0] == '-'; at++) {
      if (strcmp(argv[at], "--") == 0) {
         at++;
         break;
      }
      if (strcmp(argv[at], "--chip") != 0 || at + 1 == argc)
         return agx_tool_usage(argv[0], "%s: not an option of this version", argv[at]);
      chip = agx_chip_find(argv[++at]);
      if (!chip)
         return agx_tool_usage(argv[0], "--chip %s: there is no such chip", argv[at]);
   }
   if (at >= argc)
      return agx_tool_usage(argv[0], "no command to run");
   if (set_environment(chip->name) != AGX_OK)
      return agx_tool_failed(argv[0]);
   execvp(argv[at], argv + at);
   (void)!agx_status_fail_errno(errno, "%s", argv[at]);
   return agx_tool_failed(argv[0]);
}
