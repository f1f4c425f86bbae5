/* SPDX-License-Identifier: MIT
 *
 * What each launch of an executable is written from besides its plan (record/launch.h): the parts
 * of the uniform contents in order, and for the fast path of recording what its bindings must be.
 * Most kernels can take that: those that bind buffers by address, whole images, and samplers, and
 * no arrays of images; draws too. It is made once.
 */
#pragma once

#include <stdbool.h>

#include "base/alloc.h"
#include "hal/executable/launch_plan.h"
#include "agx/buffer.h"
#include "program/program.h"

#define AGX_TEMPLATE_MAX_BINDINGS 24
#define AGX_TEMPLATE_MAX_STATES   16

/* What a buffer must have been made for: any of `reads`, and all of `writes`. */
struct agx_binding_usage {
   uint32_t reads, writes;
};

/* The usage that a binding of a kernel asks of its buffer. */
static inline struct agx_binding_usage agx_binding_usage(const struct agx_program_binding *wanted)
{
   /* The driver's own kernels that fill and copy are the only ones that take any byte. */
   const bool is_transfer = wanted->access & AGX_BINDING_BYTES;
   const uint32_t read = is_transfer ? AGX_USAGE_TRANSFER_SOURCE
                         : wanted->kind == AGX_BINDING_UNIFORM_BUFFER
                            ? AGX_USAGE_UNIFORM | AGX_USAGE_STORAGE_READ
                            : AGX_USAGE_STORAGE_READ;
   const uint32_t write = is_transfer ? AGX_USAGE_TRANSFER_TARGET : AGX_USAGE_STORAGE_WRITE;
   return (struct agx_binding_usage){wanted->access & AGX_BINDING_READS ? read : 0,
                                     wanted->access & AGX_BINDING_WRITES ? write : 0};
}

/* Whether a buffer made for `usage` may be bound. */
static inline bool agx_binding_usage_fits(const struct agx_binding_usage *wanted, uint32_t usage)
{
   return (!wanted->reads || usage & wanted->reads) && !(wanted->writes & ~usage);
}

enum agx_template_kind {
   AGX_TEMPLATE_BUFFER = 0,
   AGX_TEMPLATE_ROBUST = 1, /* a buffer with limits */
   AGX_TEMPLATE_IMAGE = 2,
   AGX_TEMPLATE_SAMPLER = 4, /* may be both */
   AGX_TEMPLATE_VERTEX = 8,  /* a buffer that a draw names; behind all others */
};

struct agx_template_binding {
   uint32_t set, binding, element;
   uint8_t kind;       /* enum agx_template_kind bits */
   uint8_t access;     /* enum agx_binding_access */
   uint8_t align_mask; /* of buffers: bits that an offset must not have */
   uint8_t dim;        /* of images */
   struct agx_binding_usage usage;
   uint64_t min_size_B;
};

/* Whether the binding is a buffer that a dispatch names, with or without limits. */
static inline bool agx_template_is_buffer(const struct agx_template_binding *binding)
{
   return binding->kind <= AGX_TEMPLATE_ROBUST;
}

/* A piece of the uniform contents. They follow each other without gaps. */
struct agx_template_part {
   uint16_t kind;  /* enum agx_uniform_kind; constants where nothing is said */
   uint16_t bytes; /* at most 8, but for push constants */
   uint32_t index;
   uint64_t value;
};

struct agx_template_state {
   uint32_t kind; /* enum agx_state_kind */
   uint32_t index;
};

struct agx_launch_template {
   bool is_fast;    /* dispatches may take the fast path */
   bool is_plain;   /* only buffers that it reads or writes, without limits, and no other cost */
   bool has_others; /* bindings that are no buffers, or a draw's */
   bool is_vertex;
   bool takes_addresses;
   struct agx_block block;
   uint32_t push_B; /* of push constants that it needs */
   uint32_t local[3];
   uint32_t max_groups; /* along x; along y and z what hardware counts */
   uint32_t binding_count, part_count;
   uint32_t given_count; /* bindings that a dispatch names */
   /* A bit for each binding: those with limits, and those whose sinks a part needs to know. */
   uint32_t robust, sinks;
   struct agx_template_binding bindings[AGX_TEMPLATE_MAX_BINDINGS];
   struct agx_template_part *parts; /* owned */
   /* Descriptors: textures, then samplers, and the words that name them, of address 0. */
   struct agx_template_state states[AGX_TEMPLATE_MAX_STATES];
   uint64_t texture_word, sampler_word;
   uint8_t fetch_sampler[AGX_HW_SAMPLER_BYTES];
};

/* Makes the template of a program and its plan; its data lie at data_va. Memory is from alloc,
 * agx_launch_template_fini gives it back. AGX_RESOURCE_EXHAUSTED: out of host memory. */
AGX_MUST_CHECK agx_status agx_launch_template_init(const struct agx_program *program,
                                                   const struct agx_plan *plan, uint64_t data_va,
                                                   const struct agx_host_alloc *alloc,
                                                   struct agx_launch_template *out_template);
void agx_launch_template_fini(struct agx_launch_template *template,
                              const struct agx_host_alloc *alloc);
