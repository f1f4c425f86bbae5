/* SPDX-License-Identifier: MIT
 *
 * Libraries of ours that are loaded into programs of others, and whether a program that is to be
 * executed will load them, by its file: what won't must be served in another way, or be refused,
 * lest it sees the machine's own devices.
 */
#pragma once

#include <stddef.h>

#include "base/status.h"

enum agxv_executable {
   AGXV_EXECUTABLE_UNKNOWN, /* not there, not readable, no program: leave it to execve */
   AGXV_EXECUTABLE_DYNAMIC, /* loads the library */
   AGXV_EXECUTABLE_STATIC,  /* has no dynamic loader */
   AGXV_EXECUTABLE_REFUSED, /* the loader will leave the library out; why is in the words */
};

/* Of the file at path; for a script, of what interprets it. words may be NULL. */
enum agxv_executable agxv_executable_kind(const char *path, char *words, size_t capacity);
/* The same for a command as execvp finds it, whose path goes to path. */
enum agxv_executable agxv_executable_find(const char *command, char *path, size_t path_capacity,
                                          char *words, size_t capacity);

/* Puts the library in front of those that LD_PRELOAD names, once: the file that the environment's
 * variable names, or else that name in the installed tree of this program, which may be elsewhere
 * than it was configured for. AGX_NOT_FOUND: it isn't there; AGX_OUT_OF_RANGE: LD_PRELOAD is too
 * long. */
AGX_MUST_CHECK agx_status agxv_preload(const char *name, const char *variable);
