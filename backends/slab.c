#include "backends/slab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lm_slab_init(struct lm_slab *slab, size_t item_bytes, bool shared)
{
    size_t line = 64; /* neighbours on different threads must not share a cache line */
    *slab = (struct lm_slab){.item_bytes = (item_bytes + line - 1) / line * line, .shared = shared};
    slab->chunks = calloc(LM_SLAB_CHUNKS, sizeof(*slab->chunks));
    if (!slab->chunks) {
        return -ENOMEM;
    }
    pthread_mutex_init(&slab->lock, NULL);
    return 0;
}

void lm_slab_destroy(struct lm_slab *slab)
{
    if (!slab->chunks) {
        return;
    }
    for (uint32_t chunk = 0; chunk < LM_SLAB_CHUNKS && slab->chunks[chunk]; chunk++) {
        free(slab->chunks[chunk]);
    }
    free(slab->chunks);
    slab->chunks = NULL;
    pthread_mutex_destroy(&slab->lock);
}

static struct lm_slab_item *slab_grow(struct lm_slab *slab)
{
    uint32_t chunk = slab->count / LM_SLAB_CHUNK;
    if (chunk == LM_SLAB_CHUNKS) {
        return NULL;
    }
    if (!slab->chunks[chunk]) {
        void *memory = aligned_alloc(64, LM_SLAB_CHUNK * slab->item_bytes);
        if (!memory) {
            return NULL;
        }
        slab->chunks[chunk] = memory;
        memset(memory, 0, LM_SLAB_CHUNK * slab->item_bytes);
    }
    struct lm_slab_item *item = lm_slab_at(slab, slab->count);
    item->index = slab->count++;
    return item;
}

/* The slab's lock, or its one thread, makes this the only writer. */
static void slab_next_generation(struct lm_slab_item *item)
{
    uint32_t old = atomic_load_explicit(&item->generation, memory_order_relaxed);
    atomic_store_explicit(&item->generation, old + 1, memory_order_relaxed);
}

void *lm_slab_take(struct lm_slab *slab)
{
    if (slab->shared) {
        pthread_mutex_lock(&slab->lock);
    }
    struct lm_slab_item *item = slab->free;
    if (item) {
        slab->free = item->next_free;
    } else {
        item = slab_grow(slab);
    }
    if (item) {
        slab_next_generation(item);
        item->next_free = NULL;
        memset((char *)item + sizeof(*item), 0, slab->item_bytes - sizeof(*item));
    }
    if (slab->shared) {
        pthread_mutex_unlock(&slab->lock);
    }
    return item;
}

void lm_slab_give(struct lm_slab *slab, void *object)
{
    struct lm_slab_item *item = object;
    if (slab->shared) {
        pthread_mutex_lock(&slab->lock);
    }
    slab_next_generation(item);
    item->next_free = slab->free;
    slab->free = item;
    if (slab->shared) {
        pthread_mutex_unlock(&slab->lock);
    }
}

void *lm_slab_find(struct lm_slab *slab, uint64_t key)
{
    struct lm_slab_item *item = lm_slab_at(slab, (uint32_t)key);
    return lm_slab_key(item) == key ? item : NULL;
}
