/* SPDX-License-Identifier: MIT
 *
 * What the parts of `agx virtual` share.
 */
#pragma once

#include <stdbool.h>

#include "agx/chip.h"
#include "agx/status.h"

/* What shells answer for a command that isn't there, one that can't be started, and, with
 * the signal's number added, one that a signal ended. */
#define AGX_EXIT_NO_COMMAND  127
#define AGX_EXIT_NO_START    126
#define AGX_EXIT_SIGNAL_BASE 128

struct agx_virtual_run {
   const struct agx_chip *chip;
   const char *file; /* the program; a path, or a name that is looked for */
   char **command;   /* its arguments, the first being its name */
   bool seccomp;     /* its system calls are served */
   bool attach;      /* it joins the device of the agx virtual around this one */
};

/* Runs a command with this environment and waits for its end. Signals that come meanwhile
 * go to it. At the end it reports what failed on the device. *out_code is what a shell would
 * answer for it. */
AGX_MUST_CHECK agx_status agx_tool_run_virtual(const struct agx_virtual_run *run, int *out_code);
