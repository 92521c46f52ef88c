/* Fuzz target: any bytes read as a results file are refused with one printable line, or can be
 * written again and read back the same. */
#include <string.h>

#include "harness/results_json.h"
#include "harness/results_read.h"
#include "harness/text.h"
#include "tests/fuzz/fuzz.h"

/* A file being written to memory. */
struct output {
    char *bytes;
    size_t length, capacity;
};

static int append(const char *bytes, size_t count, void *context)
{
    struct output *output = context;
    if (output->length + count > output->capacity) {
        output->capacity = (output->length + count) * 2;
        output->bytes = realloc(output->bytes, output->capacity);
        fuzz_check(output->bytes != NULL);
    }
    memcpy(output->bytes + output->length, bytes, count);
    output->length += count;
    return 0;
}

static void append_record(struct output *output, json_t *record)
{
    fuzz_check(record != NULL);
    fuzz_check(json_dump_callback(record, append, output, JSON_COMPACT) == 0);
    append("\n", 1, output);
    json_decref(record);
}

static struct output written(const struct lm_results *results)
{
    struct output output = {0};
    append_record(&output, lm_run_to_json(&results->run));
    for (size_t i = 0; i < results->sample_count; i++) {
        append_record(&output, lm_sample_to_json(&results->run, &results->samples[i]));
    }
    if (results->ended) {
        append_record(&output, lm_end_to_json(&results->run, results->sample_count));
    }
    return output;
}

static struct output read_again(const struct output *output)
{
    struct lm_results results;
    char error[256];
    fuzz_check(lm_results_read_memory("again", output->bytes, output->length, &results, error,
                                      sizeof(error)) == 0);
    fuzz_check(!results.torn && results.whole_bytes == output->length);
    struct output again = written(&results);
    lm_results_free(&results);
    return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct lm_results results;
    char error[256] = "";
    if (lm_results_read_memory("input", data, bytes, &results, error, sizeof(error)) != 0) {
        fuzz_check(error[0] != '\0' && lm_text_is_clean(error));
        return 0;
    }
    fuzz_check(results.whole_bytes <= bytes);
    struct output first = written(&results), second = read_again(&first);
    fuzz_check(first.length == second.length);
    fuzz_check(memcmp(first.bytes, second.bytes, first.length) == 0);
    free(first.bytes);
    free(second.bytes);
    lm_results_free(&results);
    return 0;
}
