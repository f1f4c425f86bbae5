/* SPDX-License-Identifier: MIT
 *
 * What programs may get wrong: descriptors of which some fields are spoiled, ranges near the ends
 * of what numbers there are, objects of another device or none. Pointers are good, as the headers
 * ask: everything else the library has to bear, and to say what it dislikes.
 */
#pragma once

#include "fixture.h"

#define HOSTILE_BUFFERS    8
#define HOSTILE_BUFFER_B   4096u
#define HOSTILE_SCRATCH_B  (1u << 20)
#define HOSTILE_SEMAPHORES 4

struct hostile {
   struct agx_test_rng rng;
   uint64_t seed, round;
   struct fixture f, other;
   struct agx_buffer *buffers[HOSTILE_BUFFERS]; /* some are hard to use, some of the other device */
   struct agx_executable *executables[4];
   struct agx_image *image, *foreign_image;
   struct agx_sampler *sampler;
   struct agx_event *event, *foreign_event;
   struct agx_pool *pool;
   struct agx_pages *pages, *foreign_pages;
   struct agx_file *files[2];
   struct agx_semaphore *semaphores[HOSTILE_SEMAPHORES]; /* the last: of the other device */
   uint8_t *scratch;                                     /* HOSTILE_SCRATCH_B */
   void *spirv;
   size_t spirv_B;
   uint32_t calls, refusals;
};

/* ---- numbers and objects ------------------------------------------------------ */

uint64_t hostile_below(struct hostile *h, uint64_t bound);
/* A number as mistakes make them; and one that is often right. */
uint64_t hostile_number(struct hostile *h);
uint64_t hostile_offset(struct hostile *h);
/* One of several objects, or NULL. */
void *hostile_pick(struct hostile *h, void *objects, uint32_t count);
const char *hostile_text(struct hostile *h);
struct agx_buffer_ref hostile_ref(struct hostile *h);

/* ---- descriptors -------------------------------------------------------------- */

struct hostile_field {
   uint16_t offset, width; /* 1: a bool */
};
#define FIELD(type, member)                                                                        \
   {                                                                                               \
      offsetof(struct type, member), sizeof(((struct type *)0)->member)                            \
   }

/* Spoils some of the fields, mostly one. */
void hostile_spoil(struct hostile *h, void *desc, const struct hostile_field *fields,
                   uint32_t count);
#define SPOIL(h, desc, fields)                                                                     \
   hostile_spoil((h), (desc), (fields), sizeof(fields) / sizeof((fields)[0]))

/* ---- calls -------------------------------------------------------------------- */

void hostile_clear_text(void);
/* That a call which failed says why: "object: value". */
agx_status hostile_judge(struct hostile *h, const char *call, agx_status status);
#define HOSTILE(h, call) (hostile_clear_text(), hostile_judge((h), #call, (call)))

/* The same for one that makes something: and nothing else is given back. */
void hostile_judge_made(struct hostile *h, const char *call, agx_status status, void *made);
#define HOSTILE_MAKE(h, call, out)                                                                 \
   do {                                                                                            \
      *(void **)(out) = (void *)1;                                                                 \
      agx_status hostile_status_ = HOSTILE(h, call);                                               \
      hostile_judge_made(h, #call, hostile_status_, *(void **)(out));                              \
   } while (0)

/* A dispatch, over at most four bindings, whose memory it takes. */
struct agx_dispatch hostile_dispatch(struct hostile *h, struct agx_binding *bindings);

/* One round each of what the files are about. */
void hostile_make(struct hostile *h);
void hostile_memory(struct hostile *h);
void hostile_record(struct hostile *h);
void hostile_submit(struct hostile *h);
