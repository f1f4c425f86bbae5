/* SPDX-License-Identifier: MIT
 *
 * Runs a built program for a test.
 */
#pragma once

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define TOOL_MAX_OUTPUT 65536

/* Runs `PROGRAM arguments`, where the environment variable `variable` names PROGRAM,
 * both outputs into text (TOOL_MAX_OUTPUT bytes, terminated); returns the exit code. */
static inline int tool_run(const char *variable, const char *arguments, char *text)
{
   char command[2048];
   assert_non_null(getenv(variable));
   snprintf(command, sizeof(command), "'%s' %s 2>&1", getenv(variable), arguments);
   FILE *pipe = popen(command, "r");
   assert_non_null(pipe);
   size_t size = fread(text, 1, TOOL_MAX_OUTPUT - 1, pipe);
   text[size] = 0;
   int status = pclose(pipe);
   assert_true(WIFEXITED(status));
   return WEXITSTATUS(status);
}
