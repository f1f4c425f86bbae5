/* SPDX-License-Identifier: MIT
 *
 * Chains: each operation, a link, waits for the one before, on whatever queue. When the last point
 * is reached all have run, whatever failed elsewhere, and the buffers hold what the model says.
 */
#pragma once

#include "soak.h"

#define SOAK_BATCH  4 /* links of one call at most */
#define SOAK_CALLS  64
#define CHAIN_FILES 8

/* Bytes that links write at random, in two buffers; in a third one behind them the counts and the
 * push word of indirect links. */
#define SOAK_PART_B       (SOAK_CHAIN_B / 2)
#define SOAK_PARAMETERS   SOAK_CHAIN_B
#define SOAK_PARAMETERS_B 16u
#define SOAK_MODEL_B      (SOAK_CHAIN_B + SOAK_PARAMETERS_B)

/* What a file must hold once the chain is reached. */
struct chain_file {
   int fd;
   uint64_t offset_B;
   uint32_t length_B, link;
   uint8_t bytes[SOAK_CHAIN_B];
};

struct soak_chain {
   struct agx_semaphore *semaphore;
   struct agx_buffer *buffers[SOAK_PARTS];
   uint64_t value;
   uint8_t model[SOAK_MODEL_B];
   struct soak_record *calls[SOAK_CALLS];
   uint32_t call_count;
   struct chain_file files[CHAIN_FILES];
   uint32_t file_count;
   char history[2048]; /* the last links, for who must find out */
};

/* An operation with all that it points to. The function that builds it changes the model, too. */
struct soak_link {
   struct agx_op op;
   struct agx_point wait, signals[2];
   struct agx_dispatch dispatch;
   struct agx_binding bindings[2];
   struct agx_buffer_ref table[3];
   uint32_t push;
   uint8_t data[SOAK_CHAIN_B];
   struct agx_buffer *buffer; /* to be let go of, */
   struct agx_file *file;
   struct agx_command_buffer *commands; /* once it is submitted */
   char note[64];
};

/* Links of one call. */
struct soak_batch {
   uint32_t count;
   struct soak_link links[SOAK_BATCH];
   uint8_t models[SOAK_BATCH][SOAK_MODEL_B]; /* before each, */
   uint32_t calls[SOAK_BATCH];               /* as that many functions */
};

/* ---- soak_chain.c ---------------------------------------------------------------- */

/* The next one of a batch, empty; there must be place. Then it is built, and closed. */
struct soak_link *soak_batch_next(struct soak_thread *thread, struct soak_batch *batch);
void soak_batch_close(struct soak_thread *thread, struct soak_batch *batch);
/* In one call; how many went through. What did not must have left no trace, and is taken out of
 * the model. */
uint32_t soak_batch_submit(struct soak_thread *thread, struct soak_batch *batch);

/* What the history tells of it. */
void soak_note(struct soak_link *link, const char *format, ...)
   __attribute__((format(printf, 2, 3)));
/* Some bytes at random, within a part; where in the model. */
struct agx_buffer_ref soak_place(struct soak_thread *thread, uint32_t *out_at_B);
/* All that they hold now; false: there is no memory to map them. */
bool soak_chain_read(struct agx_buffer *const buffers[SOAK_PARTS], uint8_t bytes[SOAK_MODEL_B]);

/* ---- soak_alloca.c --------------------------------------------------------------- */

/* Bytes go through memory that comes and goes with the links. */
void soak_chain_borrow(struct soak_thread *thread);

/* ---- soak_link.c, soak_link_host.c: one operation ------------------------------- */

/* Where bytes of the model lie: within one part. */
static inline struct agx_buffer_ref soak_ref(const struct soak_chain *chain, uint64_t offset_B,
                                             uint64_t length_B)
{
   return (struct agx_buffer_ref){chain->buffers[offset_B / SOAK_PART_B], offset_B % SOAK_PART_B,
                                  length_B};
}

/* False: not now; the model is as it was. */
typedef bool (*soak_link_fn)(struct soak_thread *thread, struct soak_link *link);

bool soak_link_fill(struct soak_thread *thread, struct soak_link *link);
bool soak_link_update(struct soak_thread *thread, struct soak_link *link);
bool soak_link_copy(struct soak_thread *thread, struct soak_link *link);
bool soak_link_dispatch(struct soak_thread *thread, struct soak_link *link);
bool soak_link_parameters(struct soak_thread *thread, struct soak_link *link);
bool soak_link_indirect(struct soak_thread *thread, struct soak_link *link);
bool soak_link_dynamic_size(struct soak_thread *thread, struct soak_link *link);
bool soak_link_read(struct soak_thread *thread, struct soak_link *link);
bool soak_link_write(struct soak_thread *thread, struct soak_link *link);
bool soak_link_call(struct soak_thread *thread, struct soak_link *link);

/* ---- soak_commands.c: command buffers ------------------------------------------- */

/* Records those with tables, which all chains of a device submit. */
bool soak_tabled_make(struct soak_device *it);
bool soak_link_tabled(struct soak_thread *thread, struct soak_link *link);
bool soak_link_recorded(struct soak_thread *thread, struct soak_link *link);

/* What kernels do to the model. */
void soak_model_count(uint8_t *at, uint32_t workgroups);
void soak_model_add(const uint8_t *from, uint8_t *to, uint32_t workgroups, uint32_t push);
