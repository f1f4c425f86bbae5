/* SPDX-License-Identifier: MIT
 *
 * What the parts of `agx virtual` share.
 */
#pragma once

#include "agx/chip.h"
#include "agx/status.h"

/* What shells answer for a command that isn't there, one that can't be started, and, with
 * the signal's number added, one that a signal ended. */
#define AGX_EXIT_NO_COMMAND  127
#define AGX_EXIT_NO_START    126
#define AGX_EXIT_SIGNAL_BASE 128

/* Runs a command with this environment and waits for its end. Signals that come meanwhile
 * go to it. What failed on the device is told at the end. *out_code is what a shell would answer
 * for it. */
AGX_MUST_CHECK agx_status agx_tool_run_virtual(const struct agx_chip *chip, char **command,
                                               int *out_code);
