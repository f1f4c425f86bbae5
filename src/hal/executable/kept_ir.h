/* SPDX-License-Identifier: MIT
 *
 * IR texts of an executable that was created with AGX_EXECUTABLE_KEEP_IR.
 */
#pragma once

#include "base/alloc.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum agx_ir_stage {
   AGX_IR_MODULE,    /* as the front end leaves it */
   AGX_IR_OPTIMIZED, /* before machine instructions are selected */
   AGX_IR_REGISTERS, /* before it is encoded */
   AGX_IR_STAGES,
};

/* With its zero byte behind length. */
struct agx_ir_text {
   char *bytes; /* NULL: none */
   size_t length, capacity;
};

/* One way of one entry point through the compiler. */
struct agx_ir_run {
   struct agx_ir_text stages[AGX_IR_STAGES];
};

struct agx_kept_ir {
   const struct agx_host_alloc *alloc;
   struct agx_ir_run *runs;
   uint32_t run_count, run_capacity;
   uint32_t runs_each;      /* of an entry point: 2 where there is an unchecked variant, too */
   struct agx_ir_text last; /* what the last pass left */
   bool is_short;           /* of memory: what is there is worth nothing */
};

/* struct agxc_options.dump, user a struct agx_kept_ir with nothing but its allocator. */
void agx_kept_ir_add(void *user, const char *pass, const char *text);
/* Once, when all entry points have been compiled. AGX_RESOURCE_EXHAUSTED: there was no memory. */
AGX_MUST_CHECK agx_status agx_kept_ir_finish(struct agx_kept_ir *ir, uint32_t entry_count);
void agx_kept_ir_fini(struct agx_kept_ir *ir); /* one of zeros, too */

/* NULL: there is none. */
const struct agx_ir_text *agx_kept_ir_find(const struct agx_kept_ir *ir, uint32_t entry,
                                           bool is_unchecked, enum agx_ir_stage stage);
