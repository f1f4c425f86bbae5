/* SPDX-License-Identifier: MIT
 *
 * Doing what a fault script says. Requests are counted by this process; submissions
 * and queues have their numbers on the node.
 */
#include "winsys/virtual/store/inject.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/util.h"

static bool applies(const struct agxv_rule *rule, uint64_t number)
{
   return number >= rule->first && number <= rule->last &&
          (number - rule->first) % rule->every == 0;
}

/* The first rule of a kind for a number, or NULL. */
static const struct agxv_rule *find(const struct agx_virtual_node *node, enum agxv_verb verb,
                                    uint64_t number)
{
   const struct agxv_inject *inject = node->inject;
   for (uint32_t i = 0; inject && i < inject->count; i++)
      if (inject->rules[i].verb == verb && applies(&inject->rules[i], number))
         return &inject->rules[i];
   return NULL;
}

int agxv_inject_request(struct agx_virtual_node *node, uint32_t index, const char *name)
{
   struct agxv_inject *inject = node->inject;
   if (!inject)
      return 0;
   bool is_ioctl = index != AGXV_REQUEST_MMAP;
   uint64_t all = atomic_fetch_add(&inject->requests[0], is_ioctl) + is_ioctl;
   uint64_t own = atomic_fetch_add(&inject->requests[index + 1], 1) + 1;
   for (uint32_t i = 0; i < inject->count; i++) {
      const struct agxv_rule *rule = &inject->rules[i];
      bool is_meant = rule->request == 0 ? is_ioctl && applies(rule, all)
                                         : rule->request == index + 1 && applies(rule, own);
      if (rule->verb != AGXV_INJECT_REQUEST || !is_meant)
         continue;
      agxv_trace(node, "injected: %s, call %" PRIu64 ", %" PRIu64 " of all: errno %d", name, own,
                 all, -rule->error);
      agxv_lock(node);
      node->shared->injected++;
      agxv_unlock(node);
      return rule->error;
   }
   return 0;
}

int agxv_inject_bind(struct agx_virtual_node *node, uint64_t *out_steps)
{
   if (!node->inject)
      return 0;
   uint64_t number = atomic_fetch_add(&node->inject->binds, 1) + 1;
   const struct agxv_rule *rule = find(node, AGXV_INJECT_BIND, number);
   if (!rule)
      return 0;
   agxv_trace(node, "injected: vm_bind, call %" PRIu64 ": errno %d after %" PRIu64 " steps", number,
              -rule->error, rule->value);
   node->shared->injected++;
   *out_steps = rule->value;
   return rule->error;
}

int agxv_inject_end(struct agx_virtual_node *node, uint64_t submission, int64_t *out_delay_ns)
{
   const struct agxv_rule *rule = find(node, AGXV_INJECT_END, submission);
   const struct agxv_rule *loss = find(node, AGXV_INJECT_LOSE, submission);
   if (loss && !node->shared->is_lost) {
      agxv_trace(node, "injected: the device is lost with submission %" PRIu64, submission);
      node->shared->is_lost = true;
      node->shared->injected++;
   }
   if (!rule || node->shared->is_lost)
      return 0;
   agxv_trace(node, "injected: submission %" PRIu64 " ends with errno %d", submission,
              -rule->error);
   node->shared->injected++;
   *out_delay_ns = (int64_t)rule->value * 1000;
   return rule->error;
}

bool agxv_inject_unwoken(struct agx_virtual_node *node, uint64_t submission)
{
   if (!find(node, AGXV_INJECT_UNWOKEN, submission))
      return false;
   agxv_trace(node, "injected: submission wakes no thread: %" PRIu64, submission);
   node->shared->injected++;
   return true;
}

int64_t agxv_inject_delay(const struct agx_virtual_node *node, uint32_t queue)
{
   const struct agxv_rule *rule = find(node, AGXV_INJECT_SLOW, queue);
   return rule ? (int64_t)rule->value * 1000 : 0;
}

bool agxv_inject_allows(struct agx_virtual_node *node, uint64_t bytes)
{
   const struct agxv_rule *rule = find(node, AGXV_INJECT_MEMORY, 1);
   if (!rule || bytes <= rule->value)
      return true;
   agxv_trace(node, "injected: more than %" PRIu64 " bytes of GPU memory", rule->value);
   node->shared->injected++;
   return false;
}
