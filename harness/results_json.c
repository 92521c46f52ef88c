/* Records to JSON: the nested parts around the tables of results_schema.c. */
#include "harness/results_json.h"

#include <stdlib.h>

static json_t *record_of(const char *kind)
{
    json_t *record = json_object();
    if (record && json_object_set_new(record, "record", json_string(kind)) != 0) {
        json_decref(record);
        record = NULL;
    }
    return record;
}

/* The list's elements, each encoded by the same table. */
static json_t *encode_list(const struct lm_member *members, const void *first, size_t count,
                           size_t element_bytes)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        json_t *object = json_object();
        if (!object ||
            lm_schema_encode(object, members, (const char *)first + i * element_bytes) != 0 ||
            json_array_append(list, object) != 0) {
            json_decref(list);
            list = NULL;
        }
        json_decref(object);
    }
    return list;
}

json_t *lm_run_to_json(const struct lm_run *run)
{
    json_t *record = record_of("run");
    json_t *environment = run->environment ? json_incref(run->environment) : json_null();
    if (!record || json_object_set_new(record, "schema", json_integer(run->schema)) != 0 ||
        lm_schema_encode(record, lm_run_members, run) != 0 ||
        json_object_set_new(record, "backends",
                            encode_list(lm_run_backend_members, run->backends, run->backend_count,
                                        sizeof(run->backends[0]))) != 0 ||
        json_object_set_new(record, "cases",
                            encode_list(lm_run_case_members, run->cases, run->case_count,
                                        sizeof(run->cases[0]))) != 0 ||
        json_object_set(record, "environment", environment) != 0) {
        json_decref(record);
        record = NULL;
    }
    json_decref(environment);
    return record;
}

static json_t *encode_latency(const struct lm_latency *latency)
{
    json_t *object = json_object(), *histogram = json_array();
    bool fine = object && histogram && lm_schema_encode(object, lm_latency_members, latency) == 0;
    for (size_t i = 0; fine && i < latency->bucket_count; i++) {
        const struct lm_bucket *bucket = &latency->buckets[i];
        fine = json_array_append_new(histogram, json_pack("[I, I]", (json_int_t)bucket->value_ns,
                                                          (json_int_t)bucket->count)) == 0;
    }
    fine = fine && json_object_set(object, "histogram", histogram) == 0;
    json_decref(histogram);
    if (!fine) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

static json_t *encode_counters(const struct lm_counters *counters)
{
    json_t *object = json_object(), *syscalls = json_object();
    bool fine = object && syscalls;
    for (unsigned kind = 0; fine && kind < LM_SYS_COUNT; kind++) {
        const struct lm_member member = {lm_syscall_name(kind), LM_MEMBER_U64, 0};
        const struct lm_member table[] = {member, {NULL, LM_MEMBER_BOOL, 0}};
        fine = counters->syscalls[kind] == 0 ||
               lm_schema_encode(syscalls, table, &counters->syscalls[kind]) == 0;
    }
    fine = fine && json_object_set(object, "syscalls", syscalls) == 0 &&
           lm_schema_encode(object, lm_counter_members, counters) == 0;
    json_decref(syscalls);
    if (!fine) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

/* A stored name, or null where there is none. */
static json_t *name_or_null(const char *name)
{
    return name ? lm_schema_string(name, LM_RESULTS_NAME_BYTES) : json_null();
}

json_t *lm_sample_to_json(const struct lm_run *run, const struct lm_sample *sample)
{
    const char *case_name =
        sample->case_index < run->case_count ? run->cases[sample->case_index].name : NULL;
    const char *spec = sample->backend_index < run->backend_count
                           ? run->backends[sample->backend_index].spec
                           : NULL;
    json_t *record = record_of("sample");
    if (!record || json_object_set_new(record, "run", name_or_null(run->id)) != 0 ||
        json_object_set_new(record, "case", name_or_null(case_name)) != 0 ||
        json_object_set_new(record, "backend", name_or_null(spec)) != 0 ||
        lm_schema_encode(record, lm_sample_members, sample) != 0 ||
        json_object_set_new(record, "status",
                            json_string(lm_sample_status_words[sample->status])) != 0) {
        goto fail;
    }
    if (sample->status == LM_SAMPLE_OK &&
        (lm_schema_encode(record, lm_sample_figures, sample) != 0 ||
         json_object_set_new(record, "latency", encode_latency(&sample->latency)) != 0 ||
         json_object_set_new(record, "counters", encode_counters(&sample->counters)) != 0)) {
        goto fail;
    }
    if (sample->status == LM_SAMPLE_OK && sample->has_network) {
        json_t *network = json_object();
        if (json_object_set_new(record, "network", network) != 0 ||
            lm_schema_encode(network, lm_network_members, &sample->network) != 0) {
            goto fail;
        }
    }
    return record;
fail:
    json_decref(record);
    return NULL;
}

json_t *lm_end_to_json(const struct lm_run *run, size_t sample_count)
{
    json_t *record = record_of("end");
    if (!record || json_object_set_new(record, "run", name_or_null(run->id)) != 0 ||
        json_object_set_new(record, "samples", json_integer((json_int_t)sample_count)) != 0) {
        json_decref(record);
        return NULL;
    }
    return record;
}

void lm_run_clear(struct lm_run *run)
{
    for (size_t i = 0; run->backends && i < run->backend_count; i++) {
        free(run->backends[i].spec);
        free(run->backends[i].title);
        free(run->backends[i].settings);
        free(run->backends[i].unavailable);
    }
    for (size_t i = 0; run->cases && i < run->case_count; i++) {
        free(run->cases[i].name);
        free(run->cases[i].family);
        free(run->cases[i].operation);
        free(run->cases[i].unit);
    }
    free(run->backends);
    free(run->cases);
    free(run->id);
    free(run->label);
    json_decref(run->environment);
    *run = (struct lm_run){0};
}

void lm_sample_clear(struct lm_sample *sample)
{
    free(sample->reason);
    free(sample->warning);
    free(sample->latency.buckets);
    *sample = (struct lm_sample){0};
}
