/* SPDX-License-Identifier: MIT
 *
 * Colours, the pager, and names that a terminal can show.
 */
#include "print.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"

static pid_t pager;

bool print_has_colours(enum print_when when)
{
   const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
   if (when != PRINT_AUTO)
      return when == PRINT_ALWAYS;
   return isatty(STDOUT_FILENO) && !(none && none[0]) && term && strcmp(term, "dumb") != 0;
}

const char *print_begin(bool has_colours, enum print_style style)
{
   static const char *const codes[PRINT_STYLE_COUNT] = {
      [PRINT_PLAIN] = "", [PRINT_HEAD] = "\033[1m",  [PRINT_PACKET] = "\033[36m",
      [PRINT_CODE] = "",  [PRINT_ASIDE] = "\033[2m", [PRINT_TROUBLE] = "\033[31m",
   };
   return has_colours ? codes[style] : "";
}

const char *print_end(bool has_colours)
{
   return has_colours ? "\033[0m" : "";
}

/* The reader has left: there is no more to do. */
static void end_quietly(int number)
{
   while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
      ;
   _exit(0);
}

void print_start_pager(void)
{
   const char *command = getenv("AGX_PAGER") ? getenv("AGX_PAGER") : getenv("PAGER");
   int ends[2];
   if (!isatty(STDOUT_FILENO) || (command && (!command[0] || strcmp(command, "cat") == 0)) ||
       pipe(ends) != 0)
      return;
   fflush(stdout);
   pager = fork();
   if (pager == 0) {
      setenv("LESS", "FRX", 0); /* ends at once where one screen holds all, and shows colours */
      dup2(ends[0], STDIN_FILENO);
      close(ends[0]);
      close(ends[1]);
      execlp("sh", "sh", "-c", command ? command : "less 2>/dev/null || cat", (char *)NULL);
      _exit(127);
   }
   if (pager > 0) {
      signal(SIGPIPE, end_quietly);
      dup2(ends[1], STDOUT_FILENO);
   }
   close(ends[0]);
   close(ends[1]);
}

bool print_finish(void)
{
   static bool has_ended, result;
   static int kept;
   if (!has_ended) {
      has_ended = true;
      errno = 0;
      result = fflush(stdout) == 0 && !ferror(stdout);
      kept = errno ? errno : EIO; /* of an earlier write nothing is known any more */
   }
   if (pager > 0) {
      fclose(stdout);
      while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
         ;
      pager = 0;
   }
   errno = kept;
   return result;
}

/* Controls of C1 are two bytes in UTF-8, of which the first is 0xc2; bytes that are no UTF-8 may be
 * such controls to a terminal of eight bits. */
void print_clean(const char *text, char *out, size_t capacity)
{
   size_t at = 0;
   while (*text) {
      size_t bytes = agx_utf8_bytes(text);
      unsigned char first = (unsigned char)text[0], next = (unsigned char)text[1];
      bool is_control = !bytes || first < 0x20 || first == 0x7f || (first == 0xc2 && next < 0xa0);
      size_t length = is_control ? 1 : bytes;
      if (at + length >= capacity)
         break;
      memcpy(out + at, is_control ? "?" : text, length);
      at += length;
      text += bytes ? bytes : 1;
   }
   out[at] = 0;
}

void print_clean_bytes(const char *text, size_t bytes, char *out, size_t capacity)
{
   char raw[1001];
   size_t length = AGX_MIN(bytes, sizeof(raw) - 1);
   if (length > 0)
      memcpy(raw, text, length);
   raw[length] = 0;
   print_clean(raw, out, capacity);
}
