/* SPDX-License-Identifier: MIT
 *
 * Random use of the whole HAL by several threads, and what must hold whatever goes wrong. A round
 * has one device or two, each over a virtual node that fails as the round's plan says.
 *
 *    timelines  semaphores that all threads signal and wait for, also for what never comes
 *    receipts   a semaphore of one operation alone: it must come to an end, after what it waits for
 *    chains     operations that follow each other, with a model of what their buffers hold
 *    records    functions, files and watches, of which the library must call each once
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "agx/hal.h"
#include "support.h"

#define SOAK_THREADS   8
#define SOAK_DEVICES   2
#define SOAK_SLOTS     8 /* timelines of a device at a time */
#define SOAK_TIMELINES 8192
#define SOAK_RECEIPTS  24
#define SOAK_WATCHES   8
#define SOAK_HELD      6 /* allocas, descriptors, command buffers of a thread */
#define SOAK_RECORDS   32768
#define SOAK_SCRATCH   4
#define SOAK_SCRATCH_B 4096u
#define SOAK_PARTS     3 /* buffers of a chain */
#define SOAK_CHAIN_B   1024u
#define SOAK_TABLED    4                   /* command buffers with binding tables */
#define SOAK_FAR       (UINT64_C(1) << 40) /* what no operation signals */

/* Ends the program, with the seed. */
#define soak_check(condition, ...)                                                                 \
   do {                                                                                            \
      if (!(condition))                                                                            \
         soak_die(__FILE__, __LINE__, #condition, __VA_ARGS__);                                    \
   } while (0)
void soak_die(const char *file, int line, const char *condition, const char *format, ...)
   __attribute__((noreturn, format(printf, 4, 5)));
int64_t soak_now(void);
/* What the main thread does now, and may take twice as long as that. */
void soak_phase(const char *name);
/* What has not come by then won't, however busy the machine is. */
int64_t soak_deadline(void);

/* ---- soak_plan.c ---------------------------------------------------------- */

#define SOAK_PLANS 8 /* ways in which things go wrong */

struct soak_place {
   uint64_t seed;
   uint32_t round; /* below 1000 */
   uint32_t plan;
   uint32_t attempt;    /* at opening */
   uint32_t operations; /* of each thread */
};

struct soak_plan {
   uint64_t seed; /* the round's own */
   uint32_t number;
   uint32_t operations; /* of each thread */
   uint32_t devices;
   uint32_t queues; /* of each device */
   uint32_t max_parked;
   uint32_t null_per_mille; /* allocator calls that return NULL */
   bool strays;             /* kernels that lose their queue */
   bool cancels;            /* else all comes to its end because the host signals all there is */
   bool profiles;
   bool has_dynamic_size; /* with a kernel of dynamic local size, which is compiled */
   bool spares_last;      /* the last of several devices has nothing injected */
   bool is_harmless;      /* nothing that is injected fails an operation */
   uint32_t chaos;
   char inject[256];
};
void soak_plan_make(struct soak_plan *plan, const struct soak_place *place);

/* ---- a round -------------------------------------------------------------- */

struct soak_timeline {
   struct agx_semaphore *semaphore;
   _Atomic uint64_t next;     /* the last value that a thread took to signal */
   _Atomic uint64_t promised; /* the highest whose submission went through */
};

struct soak_kmd;
struct soak_round;

struct soak_device {
   struct soak_round *round;
   struct soak_kmd *kmd;
   struct agx_instance *instance;
   struct agx_device *device;
   struct agx_executable *count, *add, *stray;
   struct agx_executable *dynamic_size; /* NULL: not in this round */
   struct agx_event *event;
   struct agx_buffer *scratch[SOAK_SCRATCH];
   struct agx_buffer *parameters; /* of indirect dispatches: whatever is in it makes sense */
   struct agx_command_buffer *shared[SOAK_SCRATCH];
   struct agx_command_buffer *tabled[SOAK_TABLED];
   struct agx_pool *pools[2], *chain_pool;
   struct soak_timeline timelines[SOAK_TIMELINES];
   _Atomic uint32_t timeline_count, slots[SOAK_SLOTS];
   _Atomic bool is_cancelled;
   bool strays;       /* kernels may fault */
   bool must_succeed; /* nothing is done to it: chains fail only when cancelled */
};

struct soak_record {
   struct soak_round *round;
   struct soak_device *device;
   _Atomic uint32_t calls;
   uint32_t least; /* calls that there must have been in the end; one is the most */
   /* What a chain's buffers hold when the function is called. */
   struct agx_buffer *buffers[SOAK_PARTS];
   uint8_t *expected;
   struct agx_semaphore *done; /* it looks no more: its chain may have failed meanwhile */
};

struct soak_round {
   struct soak_plan plan;
   struct soak_device devices[SOAK_DEVICES];
   struct soak_record *records;
   _Atomic uint32_t record_count;
   pthread_mutex_t lock; /* of the deferred calls */
   struct agx_host_call *deferred[256];
   uint32_t deferred_count;
   bool is_ending; /* with lock: no call defers any more */
   _Atomic uint64_t submitted, refused, reached, failed, compared;
};

struct soak_receipt {
   struct agx_semaphore *semaphore;
   struct soak_round *round;
   struct soak_record *call;  /* which must have run when it is reached */
   struct agx_point after[2]; /* of timelines, which must be reached before */
   uint32_t kind;
};

struct soak_watch {
   struct agx_watch watch;
   struct agx_semaphore *semaphore;
   _Atomic uint32_t calls;
   uint32_t armed, taken_back;
};

struct soak_alloca {
   struct agx_buffer *buffer;
   struct agx_semaphore *semaphore;
   uint64_t value;
};

struct soak_thread {
   struct soak_round *round;
   struct soak_device *device;
   uint32_t index;
   pthread_t thread;
   struct agx_test_rng rng;
   struct soak_receipt receipts[SOAK_RECEIPTS];
   struct soak_watch watches[SOAK_WATCHES];
   struct soak_alloca allocas[SOAK_HELD];
   struct soak_chain *chain;
   struct agx_command_buffer *commands[SOAK_HELD];
   int fds[SOAK_HELD];
   const char *_Atomic doing;
   _Atomic uint64_t done;
   _Atomic bool has_ended;
};

static inline uint32_t soak_below(struct soak_thread *thread, uint32_t bound)
{
   return (uint32_t)agx_test_random_below(&thread->rng, bound);
}
static inline bool soak_chance(struct soak_thread *thread, uint32_t per_mille)
{
   return soak_below(thread, 1000) < per_mille;
}

/* ---- soak_round.c, soak_device.c, soak_end.c, soak_quiet.c ------------------------------- */

/* Everything that a round needs; false: the plan's failures were against it. */
bool soak_round_open(struct soak_round *round);
bool soak_device_open(struct soak_device *it);
/* Its objects go; the last of them takes the node with it. */
void soak_device_close(struct soak_device *it);
/* With devices that are open, but that no soak thread uses any more. */
void soak_round_be_quiet(struct soak_round *round);
/* All that threads have started comes to its end. */
void soak_round_settle(struct soak_round *round, struct soak_thread *threads);
/* Everything goes, and must have gone. */
void soak_round_close(struct soak_round *round);
/* Entries of a folder of /proc/self. */
uint32_t soak_count_entries(const char *path);

/* Of the thread's device. */
struct soak_timeline *soak_timeline_pick(struct soak_thread *thread);
/* Of any. */
struct soak_timeline *soak_timeline_pick_any(struct soak_thread *thread);
bool soak_is_own(const struct soak_thread *thread, const struct soak_timeline *timeline);
/* A new one in place of one that failed. */
void soak_timeline_renew(struct soak_thread *thread);
/* NULL: there are none left. */
struct soak_record *soak_record_take(struct soak_thread *thread);

/* ---- soak_host.c ---------------------------------------------------------- */

/* What the host does by itself: signals, waits, watches, descriptors, trims. */
void soak_host(struct soak_thread *thread);
bool soak_unwatch(struct soak_watch *watch);
/* False: the point is neither reached nor failed by then. */
bool soak_await(struct agx_semaphore *semaphore, uint64_t value, int64_t deadline_ns,
                agx_status *out_status);
/* True: it is over, and was as it must be. */
bool soak_receipt_check(struct soak_receipt *receipt, int64_t deadline_ns);

/* ---- soak_submit.c, soak_gpu.c, soak_call.c -------------------------------- */

/* One operation of any kind, or some, after and before anything. */
void soak_submit(struct soak_thread *thread);
/* Submits op with some points more; call: what a receipt is to see run. */
agx_status soak_send(struct soak_thread *thread, struct agx_op *op, struct soak_record *call);

void soak_gpu_fill(struct soak_thread *thread, struct agx_op *op);
void soak_gpu_update(struct soak_thread *thread, struct agx_op *op);
void soak_gpu_copy(struct soak_thread *thread, struct agx_op *op);
void soak_gpu_dispatch(struct soak_thread *thread, struct agx_op *op);
void soak_gpu_execute(struct soak_thread *thread, struct agx_op *op);
void soak_gpu_execute_tabled(struct soak_thread *thread, struct agx_op *op);

void soak_call_host(struct soak_thread *thread, struct agx_op *op);
void soak_use_file(struct soak_thread *thread, struct agx_op *op);
/* Ends deferred calls, some or all. */
void soak_finish_deferred(struct soak_round *round, bool all);

/* ---- soak_chain.c, soak_alloca.c ------------------------------------------- */

bool soak_chain_make(struct soak_thread *thread);
void soak_chain_go_on(struct soak_thread *thread);
/* Waits for the chain, and compares; it ends. */
void soak_chain_check(struct soak_thread *thread, int64_t deadline_ns);

void soak_alloca_go_on(struct soak_thread *thread);
void soak_alloca_end(struct soak_alloca *it);

/* ---- soak_kmd.c ----------------------------------------------------------- */

struct agx_kmd;
struct soak_kmd *soak_kmd_open(struct agx_kmd **out_base);
/* Waits until the node is closed; then what it was asked for must be back. */
void soak_kmd_close(struct soak_kmd *kmd);

/* Host memory, counted, which fails now and then. */
extern const struct agx_alloc_callbacks soak_alloc;
void soak_alloc_fail(uint32_t per_mille, uint64_t seed);
int64_t soak_alloc_blocks(void);
