/* SPDX-License-Identifier: MIT
 *
 * A kernel of the corpus with what its manifest says that it is run with.
 */
#pragma once

#include "fixture.h"
#include "manifest.h"

struct corpus_job {
   struct fixture *fixture;
   struct agx_manifest manifest;
   struct agx_executable *executable;
   struct agx_buffer *buffers[AGX_MANIFEST_MAX_RESOURCES];
   struct agx_image *images[AGX_MANIFEST_MAX_RESOURCES]; /* the buffer is staging memory then */
   struct agx_sampler *samplers[AGX_MANIFEST_MAX_RESOURCES];
   uint64_t sizes[AGX_MANIFEST_MAX_RESOURCES];
   uint32_t *memory[AGX_MANIFEST_MAX_RESOURCES]; /* where the contents begin */
   uint8_t push[AGX_MANIFEST_MAX_PUSH_B];
   uint32_t flags;                    /* of the executable */
   const struct corpus_range *ranges; /* of each resource; NULL: whole buffers */
};

/* How a buffer is bound: its contents begin at offset_B, and bound_B bytes are the kernel's; behind
 * them and the contents there are CORPUS_MARGIN_B bytes more. What is no contents is 0xa5. */
struct corpus_range {
   uint64_t offset_B, bound_B;
   bool is_null; /* no buffer at all */
};
#define CORPUS_MARGIN_B 256u
#define CORPUS_MARK     0xa5

/* A file of the corpus, such as "corpus/%s.%u.bin"; free it. */
char *corpus_path(const char *format, const char *kernel, uint32_t id);
/* Calls back for each kernel of tiers 1 to 3. */
void corpus_for_each(void (*kernel)(void *user, unsigned tier, const char *name), void *user);

void corpus_load_manifest(struct corpus_job *job, const char *kernel);
/* From the kernel's SPIR-V, with the manifest's specialization constants. */
agx_status corpus_compile(struct corpus_job *job, const char *kernel, uint32_t robustness);
/* What the manifest says that a resource holds at first. */
void corpus_contents(const struct corpus_job *job, uint32_t index, void *out_bytes);
/* Everything of one dispatch. */
void corpus_prepare(struct corpus_job *job);
/* What a dispatch of it binds, at most AGX_MANIFEST_MAX_RESOURCES; how many. */
uint32_t corpus_bindings(const struct corpus_job *job, struct agx_binding *bindings);
/* The device's verdict on it; everything else must work. */
agx_status corpus_run(struct corpus_job *job);
/* All but the executable. */
void corpus_release(struct corpus_job *job);
