/* list.c - every case there is, in page order. */
#include "suites/list.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_CASES 512u

static struct lm_case cases[MAX_CASES];
static size_t case_count;

static const struct lm_family split_family = {
    .name = "split",
    .measures =
        "the work of the family named in the case, with the two ends on different loops run "
        "by different threads: what an optimisation is worth when they do not share a loop",
};

void lm_list_add(const struct lm_case *like, const char *shape, int64_t argument)
{
    assert(case_count < MAX_CASES);
    struct lm_case *added = &cases[case_count++];
    *added = *like;
    char suffix[24] = "";
    if (argument >= 0) {
        snprintf(suffix, sizeof(suffix), "/%lld", (long long)argument);
    }
    int length =
        snprintf(added->name, sizeof(added->name), "%s/%s%s", like->family->name, shape, suffix);
    assert(length > 0 && (size_t)length < sizeof(added->name));
    (void)length;
    if (added->needs.descriptors == 0) { /* connected pairs, each made through a listener */
        added->needs.descriptors = 2 * added->pairs;
        added->needs.ports = added->local ? 0 : 2 * added->pairs;
    }
}

static void build_list(void)
{
    lm_list_accept_churn();
    lm_list_fan_out();
    lm_list_http_server();
    lm_list_latency(true);
    lm_list_throughput(true);
    lm_list_latency(false);
    lm_list_throughput(false);
    lm_list_event_loop();
    lm_list_timer();
    lm_list_latency_split(&split_family);
    lm_list_http_server_split(&split_family);
    lm_list_throughput_split(&split_family);
}

size_t lm_case_count(void)
{
    if (!case_count) {
        build_list();
    }
    return case_count;
}

const struct lm_case *lm_case_at(size_t index)
{
    assert(index < lm_case_count());
    return &cases[index];
}

const struct lm_case *lm_case_find(const char *name)
{
    for (size_t i = 0; i < lm_case_count(); i++) {
        if (!strcmp(cases[i].name, name)) {
            return &cases[i];
        }
    }
    return NULL;
}

const char *lm_metric_unit(enum lm_metric metric)
{
    static const char *const units[] = {"ops/s", "bytes/s", "ns"};
    return units[metric];
}

bool lm_metric_higher_is_better(enum lm_metric metric)
{
    return metric != LM_METRIC_MEAN_NS;
}

const char *lm_case_skip_reason(const struct lm_case *which, const struct lm_backend *backend,
                                const uint64_t *options)
{
    const char *why;
    uint32_t missing = which->capabilities & ~lm_capabilities(backend, options, &why);
    if (!missing) {
        return NULL;
    }
    if (why) {
        return why;
    }
    if (missing & LM_CAP_THREADS) {
        return "the backend can not have several threads run one loop";
    }
    if (missing & LM_CAP_LOOPS) {
        return "the backend can not have loops of several threads side by side";
    }
    return "the backend has no AF_UNIX stream sockets";
}

int lm_case_run(const struct lm_case *which, const struct lm_case_setup *setup,
                struct lm_case_result *result)
{
    memset(result, 0, sizeof(*result));
    const char *reason = lm_case_skip_reason(which, setup->backend, setup->options);
    if (reason) {
        snprintf(result->error, sizeof(result->error), "%s", reason);
        return -ENOTSUP;
    }
    return which->run(which, setup, result);
}
