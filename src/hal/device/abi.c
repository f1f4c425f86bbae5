/* SPDX-License-Identifier: MIT
 *
 * What programs and libraries of different versions must agree on.
 */
#include <stdlib.h>
#include <string.h>

#include "agx/hal.h"

uint32_t agx_abi_version(void)
{
   return AGX_ABI_VERSION;
}

/* ---- functions by name ---------------------------------------------------- */

struct proc {
   const char *name;
   agx_proc proc;
};

static const struct proc procs[] = {
#include "proc_table.inc"
};

static int compare(const void *name, const void *proc)
{
   return strcmp(name, ((const struct proc *)proc)->name);
}

agx_proc agx_get_proc(const char *name)
{
   const struct proc *found =
      name ? bsearch(name, procs, sizeof(procs) / sizeof(procs[0]), sizeof(procs[0]), compare)
           : NULL;
   return found ? found->proc : NULL;
}

/* ---- structs that can't grow ---------------------------------------------- */

/* A struct that begins with its size may get fields at its end. These have none: programs pass or
 * get them in arrays, whose elements the library finds by its own idea of the size, or inside of
 * other structs, where growing would move what follows. Another size is another
 * AGX_ABI_VERSION. */
#define PINNED(name, bytes)                                                                        \
   _Static_assert(sizeof(struct name) == (bytes), "struct " #name " is part of the ABI")

_Static_assert(sizeof(void *) == 8, "the sizes below are those of 64-bit systems");
PINNED(agx_binding, 96);       /* arrays, in dispatches */
PINNED(agx_buffer_ref, 32);    /* arrays, binding tables; inside agx_binding and others */
PINNED(agx_point, 16);         /* arrays, in operations and waits */
PINNED(agx_vertex_buffer, 48); /* arrays, in dispatches of vertices */
PINNED(agx_image_region, 32);  /* pointed to, without a size of its own */
PINNED(agx_texels, 40);        /* the same */
_Static_assert(sizeof(union agx_color) == 16, "union agx_color is part of the ABI");
PINNED(agx_specialization, 16);
PINNED(agx_statistic, 24); /* arrays that the library fills */
PINNED(agx_binding_robustness, 12);
PINNED(agx_vertex_attribute, 32);
PINNED(agx_node, 228);           /* arrays that the library fills */
PINNED(agx_heap, 32);            /* the same */
PINNED(agx_heap_stats, 32);      /* inside agx_memory_stats */
PINNED(agx_profile_filter, 32);  /* inside agx_profile_desc */
PINNED(agx_profile_counter, 16); /* arrays that the library gives */
PINNED(agx_image_region, 32);    /* its functions know no size */
PINNED(agx_watch, 88);           /* the program's memory, which the library writes to */
PINNED(agx_observer, 88);        /* the same */
PINNED(agx_frontier, 64);        /* its functions know no size */
PINNED(agx_pool_grant, 112);     /* the same: a source fills it */
PINNED(agx_alloc_callbacks, 24);
PINNED(agx_release_callback, 16); /* passed by value */

/* Operations come in arrays, too, but say their size, by which agx_submit goes on to the next. What
 * each kind has may fill the union, without moving what comes behind it. */
PINNED(agx_op, 200);
_Static_assert(offsetof(struct agx_op, u) == 48, "where all kinds begin");
_Static_assert(sizeof(((struct agx_op *)0)->u) == 128, "no kind has more than is reserved");
