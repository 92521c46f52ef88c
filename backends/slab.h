/* slab.h - objects of one size, numbered, with a generation that tells an old user of a slot from
 * the present one. Memory is reused and only given back when the slab is destroyed, so a late event
 * may look at a slot safely and find that its generation has moved on.
 */
#ifndef LM_SLAB_H
#define LM_SLAB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First member of each object. */
struct lm_slab_item {
    uint32_t index; /* position in the slab, for life */
    /* Grows each time the slot is taken and given back: odd while in use. Atomic because a late
     * event may look at it while another thread takes the slot. */
    _Atomic uint32_t generation;
    struct lm_slab_item *next_free;
};

#define LM_SLAB_CHUNK  256u
#define LM_SLAB_CHUNKS 4096u /* bound: about a million objects */

struct lm_slab {
    size_t item_bytes;
    bool shared; /* several threads take objects: guarded by the lock */
    pthread_mutex_t lock;
    uint32_t count; /* slots ever made */
    struct lm_slab_item *free;
    char **chunks; /* LM_SLAB_CHUNKS pointers */
};

/* 0 or -ENOMEM. item_bytes >= sizeof(struct lm_slab_item). */
int lm_slab_init(struct lm_slab *slab, size_t item_bytes, bool shared);
void lm_slab_destroy(struct lm_slab *slab);

/* A zeroed object (but for its lm_slab_item), or NULL when memory or the bound is reached. */
void *lm_slab_take(struct lm_slab *slab);
void lm_slab_give(struct lm_slab *slab, void *item);

/* The number that stands for this use of the object: generation << 32 | index. */
static inline uint64_t lm_slab_key(struct lm_slab_item *item)
{
    uint32_t generation = atomic_load_explicit(&item->generation, memory_order_relaxed);
    return (uint64_t)generation << 32 | item->index;
}

/* The object whose key this is, or NULL when that use of the slot has ended. */
void *lm_slab_find(struct lm_slab *slab, uint64_t key);

/* Whether this slot is in use. */
static inline bool lm_slab_used(struct lm_slab_item *item)
{
    return atomic_load_explicit(&item->generation, memory_order_relaxed) & 1u;
}

/* Slot by number, in use or not; index < slab->count. */
static inline struct lm_slab_item *lm_slab_at(const struct lm_slab *slab, uint32_t index)
{
    return (struct lm_slab_item *)(slab->chunks[index / LM_SLAB_CHUNK] +
                                   (size_t)(index % LM_SLAB_CHUNK) * slab->item_bytes);
}

#endif
