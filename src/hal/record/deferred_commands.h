/* SPDX-License-Identifier: MIT
 *
 * What a command buffer with a binding table records: its commands as they were given, since only a
 * submission says what they are bound to. Replaying them records another command buffer; that
 * takes no longer than to copy and patch one would (docs/decisions/0018-binding-tables.md).
 */
#pragma once

#include "base/alloc.h"

struct agx_deferred_block;
struct agx_deferred_command;

struct agx_deferred_commands {
   const struct agx_host_alloc *alloc;
   struct agx_deferred_block *blocks, *spare; /* spare: empty, for the next recording */
   struct agx_deferred_command *first, *last;
};

/* Drops all commands; their memory stays for the next recording. */
void agx_deferred_commands_reset(struct agx_deferred_commands *deferred);
/* Drops all commands and frees their memory. */
void agx_deferred_commands_fini(struct agx_deferred_commands *deferred);
