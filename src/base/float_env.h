/* SPDX-License-Identifier: MIT
 *
 * The floating-point environment of a thread: rounding, flushing of denormals, traps and exception
 * flags. Programs change theirs; neither code that the compiler makes nor what the simulator
 * computes may depend on it, and the program must find it as it was. So whatever computes with
 * floats for a caller does it between these two, and threads of the library start with the default
 * (thread.h).
 */
#pragma once

#include <fenv.h>

struct agx_float_env {
   fenv_t callers;
};

/* Keeps the thread's environment in *env and sets the default one: to nearest, denormals kept, no
 * traps, no flags. The caller leaves it again on the same thread. */
void agx_float_env_enter(struct agx_float_env *env);

/* Gives the thread the environment back that agx_float_env_enter kept, its flags too: what was
 * raised in between is lost. */
void agx_float_env_leave(const struct agx_float_env *env);
