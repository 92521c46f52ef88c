/* Results files as they are read: what comes back, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/environment.h"
#include "harness/results_json.h"
#include "harness/results_read.h"
#include "lm_config.h"
#include "tests/results_fixture.h"

/* A file in memory, built line by line. */
struct text {
    char *bytes;
    size_t length;
};

static void add(struct text *text, const char *bytes, size_t length)
{
    text->bytes = realloc(text->bytes, text->length + length + 1);
    assert_non_null(text->bytes);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void add_string(struct text *text, const char *string)
{
    add(text, string, strlen(string));
}

static void add_record(struct text *text, json_t *record)
{
    assert_non_null(record);
    char *line = json_dumps(record, JSON_COMPACT);
    assert_non_null(line);
    add_string(text, line);
    add_string(text, "\n");
    free(line);
    json_decref(record);
}

/* Run record, `samples` samples of iterations 0 and 1, and perhaps the end record. */
static struct text fixture_text(size_t samples, bool with_end)
{
    struct text text = {0};
    struct lm_run run = fixture_run("a");
    add_record(&text, lm_run_to_json(&run));
    for (size_t i = 0; i < samples; i++) {
        struct lm_sample sample =
            i % 2 ? fixture_failed(i / 6, i / 2 % 3, 1) : fixture_sample(i / 6, i / 2 % 3, 0);
        add_record(&text, lm_sample_to_json(&run, &sample));
    }
    if (with_end) {
        add_record(&text, lm_end_to_json(&run, samples));
    }
    json_decref(run.environment);
    return text;
}

/* Replaces the first `from` of the text. */
static void replace(struct text *text, const char *from, const char *to)
{
    struct text changed = {0};
    char *at = strstr(text->bytes, from);
    assert_non_null(at);
    add(&changed, text->bytes, (size_t)(at - text->bytes));
    add_string(&changed, to);
    add_string(&changed, at + strlen(from));
    free(text->bytes);
    *text = changed;
}

/* Reads the text and frees it; the error must hold `words` and be one line with a next step. */
static void assert_refused(struct text text, int expected, const char *words)
{
    struct lm_results results;
    char error[512] = "";
    int result =
        lm_results_read_memory("f.jsonl", text.bytes, text.length, &results, error, sizeof(error));
    free(text.bytes);
    if (result == 0) {
        lm_results_free(&results);
    }
    if (result != expected || !strstr(error, words)) {
        print_error("result %d, expected %d; \"%s\" does not hold \"%s\"\n", result, expected,
                    error, words);
    }
    assert_int_equal(result, expected);
    assert_non_null(strstr(error, words));
    assert_ptr_equal(strstr(error, "f.jsonl"), error);
    assert_null(strchr(error, '\n'));
    assert_true(strstr(error, ": name ") || strstr(error, "run again") ||
                strstr(error, "delete one") || strstr(error, "use that version"));
    assert_null(results.samples);
}

/* One sample, with `from` in it made `to`. */
static void assert_sample_refused(const char *from, const char *to, const char *words)
{
    struct text text = fixture_text(1, true);
    char *line = strchr(text.bytes, '\n') + 1;
    struct text run = {0};
    add(&run, text.bytes, (size_t)(line - text.bytes));
    struct text rest = {0};
    add_string(&rest, line);
    free(text.bytes);
    replace(&rest, from, to);
    add(&run, rest.bytes, rest.length);
    free(rest.bytes);
    assert_refused(run, -EBADMSG, words);
}

static void assert_run_refused(const char *from, const char *to, const char *words)
{
    struct text text = fixture_text(1, true);
    replace(&text, from, to);
    assert_refused(text, -EBADMSG, words);
}

static struct lm_results read_text(struct text text)
{
    struct lm_results results;
    char error[512] = "";
    int result =
        lm_results_read_memory("f.jsonl", text.bytes, text.length, &results, error, sizeof(error));
    free(text.bytes);
    assert_string_equal(error, "");
    assert_int_equal(result, 0);
    return results;
}

static void every_member_of_a_run_comes_back(void **state)
{
    (void)state;
    struct lm_run run = fixture_run("a");
    struct lm_results results = read_text(fixture_text(0, false));
    const struct lm_run *back = &results.run;
    assert_int_equal(back->schema, run.schema);
    assert_string_equal(back->id, run.id);
    assert_string_equal(back->label, run.label);
    assert_true(json_equal(back->environment, run.environment));
    assert_int_equal(back->iterations, run.iterations);
    assert_true(back->duration_s == run.duration_s && back->warmup_s == run.warmup_s);
    assert_true(back->timeout_s == run.timeout_s);
    assert_true(back->seed == run.seed);
    assert_true(back->interleaved);
    assert_int_equal(back->baseline_index, 0);
    assert_int_equal(back->backend_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(back->backends[i].spec, run.backends[i].spec);
        assert_string_equal(back->backends[i].title, run.backends[i].title);
        assert_string_equal(back->backends[i].settings, run.backends[i].settings);
        assert_int_equal(back->backends[i].aa, run.backends[i].aa);
        assert_int_equal(back->backends[i].floor, run.backends[i].floor);
    }
    assert_null(back->backends[0].unavailable);
    assert_string_equal(back->backends[1].unavailable, run.backends[1].unavailable);
    assert_int_equal(back->case_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(back->cases[i].name, run.cases[i].name);
        assert_string_equal(back->cases[i].family, run.cases[i].family);
        assert_string_equal(back->cases[i].operation, run.cases[i].operation);
        assert_string_equal(back->cases[i].unit, run.cases[i].unit);
        assert_int_equal(back->cases[i].higher_is_better, run.cases[i].higher_is_better);
        assert_int_equal(back->cases[i].micro, run.cases[i].micro);
        assert_int_equal(back->cases[i].split, run.cases[i].split);
    }
    json_decref(run.environment);
    lm_results_free(&results);
}

static void every_member_of_a_sample_comes_back(void **state)
{
    (void)state;
    struct lm_sample sample = fixture_sample(0, 0, 0);
    struct lm_results results = read_text(fixture_text(1, false));
    assert_int_equal(results.sample_count, 1);
    const struct lm_sample *back = &results.samples[0];
    assert_int_equal(back->latency.bucket_count, 3);
    assert_memory_equal(back->latency.buckets, fixture_buckets, sizeof(fixture_buckets));
    assert_string_equal(back->warning, sample.warning);
    assert_true(back->has_network);
    assert_memory_equal(&back->network, &sample.network, sizeof(sample.network));
    assert_null(back->reason);
    assert_true(back->metric == sample.metric && back->elapsed_s == sample.elapsed_s);
    assert_int_equal(back->operations, sample.operations);
    assert_int_equal(back->bytes, sample.bytes);
    assert_int_equal(back->drained_operations, sample.drained_operations);
    assert_int_equal(back->drained_bytes, sample.drained_bytes);
    assert_true(back->latency.mean_ns == sample.latency.mean_ns);
    assert_memory_equal(&back->latency.min_ns, &sample.latency.min_ns, 7 * sizeof(uint64_t));
    assert_true(back->cpu_user_s == sample.cpu_user_s);
    assert_true(back->cpu_system_s == sample.cpu_system_s);
    assert_int_equal(back->rss_peak_bytes, sample.rss_peak_bytes);
    assert_int_equal(back->rss_bytes, sample.rss_bytes);
    assert_int_equal(back->voluntary_switches, sample.voluntary_switches);
    assert_int_equal(back->involuntary_switches, sample.involuntary_switches);
    assert_memory_equal(&back->counters, &sample.counters, sizeof(sample.counters));
    lm_results_free(&results);
}

static void a_failed_sample_comes_back_with_its_reason(void **state)
{
    (void)state;
    struct lm_results results = read_text(fixture_text(2, true));
    assert_int_equal(results.samples[1].status, LM_SAMPLE_FAILED);
    assert_int_equal(results.samples[1].iteration, 1);
    assert_string_equal(results.samples[1].reason, "killed by signal 11 (Segmentation fault)");
    assert_null(results.samples[1].latency.buckets);
    assert_true(results.ended);
    lm_results_free(&results);
}

static void text_from_a_dying_worker_is_stored_as_one_clean_line(void **state)
{
    (void)state;
    struct text text = fixture_text(0, false);
    struct lm_run run = fixture_run("a");
    struct lm_sample sample = fixture_failed(0, 0, 0);
    char reason[20000];
    memset(reason, 'x', sizeof(reason));
    static const char start[] = " ==1==\x1b[31m ERROR\r\n\xff\xc3\xa4";
    memcpy(reason, start, sizeof(start) - 1);
    reason[sizeof(reason) - 1] = '\0';
    sample.reason = reason;
    add_record(&text, lm_sample_to_json(&run, &sample));
    json_decref(run.environment);
    struct lm_results results = read_text(text);
    const char *back = results.samples[0].reason;
    assert_ptr_equal(strstr(back, "==1== [31m ERROR \xef\xbf\xbd\xc3\xa4xxx"), back);
    assert_true(strlen(back) <= LM_RESULTS_TEXT_BYTES);
    assert_string_equal(back + strlen(back) - 4, "x...");
    lm_results_free(&results);
}

static void a_number_beyond_json_becomes_the_largest_one(void **state)
{
    (void)state;
    struct lm_run run = fixture_run("a");
    struct lm_sample sample = fixture_sample(0, 0, 0), back;
    struct lm_problem problem;
    sample.bytes = UINT64_MAX;
    json_t *record = lm_sample_to_json(&run, &sample);
    assert_int_equal(lm_sample_from_json(&run, record, &back, &problem), 0);
    assert_true(back.bytes == INT64_MAX);
    lm_sample_clear(&back);
    json_decref(record);
    json_decref(run.environment);
}

static void unknown_members_are_ignored(void **state)
{
    (void)state;
    struct text text = fixture_text(1, true);
    replace(&text, "\"label\"", "\"new\":[1,{\"a\":null}],\"label\"");
    replace(&text, "\"metric\"", "\"later\":\"x\",\"metric\"");
    replace(&text, "\"samples\"", "\"why\":0,\"samples\"");
    struct lm_results results = read_text(text);
    assert_int_equal(results.sample_count, 1);
    lm_results_free(&results);
}

static void a_file_from_before_floors_were_told_is_read(void **state)
{
    (void)state;
    struct text text = fixture_text(0, false);
    replace(&text, ",\"floor\":true", "");
    struct lm_results results = read_text(text);
    assert_false(results.run.backends[1].floor);
    lm_results_free(&results);
}

static void lines_with_carriage_returns_are_read(void **state)
{
    (void)state;
    struct text text = fixture_text(1, true);
    replace(&text, "}\n", "}\r\n");
    struct lm_results results = read_text(text);
    assert_true(results.ended);
    lm_results_free(&results);
}

/* A kill may leave any beginning of the file. */
static void a_file_cut_anywhere_is_read_or_refused_with_a_reason(void **state)
{
    (void)state;
    struct text text = fixture_text(3, true);
    size_t first_line = (size_t)(strchr(text.bytes, '\n') - text.bytes) + 1;
    size_t whole_lines = 0, whole_bytes = 0;
    for (size_t cut = 0; cut <= text.length; cut++) {
        struct lm_results results;
        char error[512] = "";
        if (cut > 0 && text.bytes[cut - 1] == '\n') {
            whole_lines++;
            whole_bytes = cut;
        }
        char *copy = malloc(cut ? cut : 1); /* exact, so that a sanitizer sees a step too far */
        memcpy(copy, text.bytes, cut);
        int result = lm_results_read_memory("f.jsonl", copy, cut, &results, error, sizeof(error));
        free(copy);
        if (cut < first_line) {
            assert_int_equal(result, -EBADMSG);
            assert_non_null(strstr(error, cut ? "cut off within its first line" : "empty"));
            continue;
        }
        assert_int_equal(result, 0);
        assert_int_equal(results.torn, text.bytes[cut - 1] != '\n');
        assert_int_equal(results.whole_bytes, whole_bytes);
        assert_int_equal(results.sample_count, whole_lines > 4 ? 3 : whole_lines - 1);
        assert_int_equal(results.ended, cut == text.length);
        lm_results_free(&results);
    }
    free(text.bytes);
}

static void a_foreign_file_is_named_as_such(void **state)
{
    (void)state;
    static const char *const foreign[] = {
        "{\"context\": {\"date\": \"2026\"}}\n",
        "{\"a\":1}",
        "[]\n",
        "3\n",
        "null\n",
        "\n",
        "{\"record\":5}\n",
        "{\"record\":\"page\"}\n",
        "family,case\n",
        "\177ELF\x02\x01\x01",
        "\xef\xbb\xbf{\"record\":\"run\"}\n",
        "\xff\xfe{\n",
        "{\n",
    };
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        struct text text = {0};
        add_string(&text, foreign[i]);
        assert_refused(text, -EBADMSG, "not a loopmark results file");
    }
    struct text zeros = {0};
    add(&zeros, "\0\0\0\0\n\0", 6);
    assert_refused(zeros, -EBADMSG, "not a loopmark results file");
}

static void an_empty_file_is_refused(void **state)
{
    (void)state;
    struct text text = {0};
    add_string(&text, "");
    assert_refused(text, -EBADMSG, "f.jsonl: empty");
}

static void a_newer_schema_is_refused_with_both_numbers(void **state)
{
    (void)state;
    struct text text = fixture_text(1, true);
    replace(&text, "\"schema\":1", "\"schema\":7");
    assert_refused(text, -ENOTSUP, "schema 7, this one reads up to 1; use that version");
}

static void a_wrong_run_record_is_refused(void **state)
{
    (void)state;
    assert_run_refused("\"schema\":1", "\"schema\":0", "schema is 0");
    assert_run_refused("\"schema\":1", "\"schema\":\"1\"", "schema is a string");
    assert_run_refused("\"schema\":1,", "", "schema is missing");
    assert_run_refused("\"id\":\"4f6d1c\"", "\"id\":\"\"", "id is empty");
    assert_run_refused("\"id\":\"4f6d1c\",", "", "id is missing");
    assert_run_refused("\"iterations\":2", "\"iterations\":0", "iterations is 0");
    assert_run_refused("\"iterations\":2", "\"iterations\":-2", "iterations is -2");
    assert_run_refused("\"iterations\":2", "\"iterations\":2.0", "iterations is 2, not a whole");
    assert_run_refused("\"iterations\":2", "\"iterations\":4294967296", "is 4294967296");
    assert_run_refused("\"duration_s\":", "\"duration_s\":-0.1,\"old\":", "duration_s is -0.1");
    assert_run_refused(
        "\"duration_s\":", "\"duration_s\":\"0.1\",\"old\":", "duration_s is a string");
    assert_run_refused("\"18446744073709551614\"", "18", "seed is 18, not a string");
    assert_run_refused("\"18446744073709551614\"", "\"18446744073709551616\"", "seed is");
    assert_run_refused("\"18446744073709551614\"", "\"-1\"", "seed is");
    assert_run_refused("\"18446744073709551614\"", "\"1x\"", "seed is");
    assert_run_refused("\"interleaved\":true", "\"interleaved\":1", "interleaved is 1, not true");
    assert_run_refused("\"baseline_index\":0", "\"baseline_index\":3", "list has 3 backends");
    assert_run_refused("\"baseline_index\":0", "\"baseline_index\":2", "names the A/A copy");
    assert_run_refused("\"floor\":true", "\"floor\":1", "floor is 1, not true");
    assert_run_refused("\"aa\":true", "\"aa\":false", "backend reactor is listed twice");
    assert_run_refused("\"baseline_index\":0", "\"baseline_index\":1", "not of the baseline");
    assert_run_refused("\"event_loop/post\"", "\"socket_latency/pingpong/64\"", "listed twice");
    assert_run_refused("\"unit\":\"ops/s\"", "\"unit\":null", "cases[1].unit is null");
    assert_run_refused("\"micro\":true,", "", "cases[1].micro is missing");
    assert_run_refused("\"settings\":\"\"", "\"settings\":\"\\u001b[2J\"",
                       "backends[1].settings holds control characters");
    assert_run_refused("\"settings\":\"\"", "\"settings\":\"\\u009b\"", "control characters");
    assert_run_refused("\"cores\":2", "\"cores\":\"\\n\"", "environment holds a string");
    assert_run_refused("\"cores\":2", "\"cores\":[[[[[[[[0]]]]]]]]", "environment is nested");
    assert_run_refused("\"cores\":2", "\"\\u0007\":2", "environment holds a name");
    assert_run_refused("\"environment\":", "\"environment\":[],\"old\":", "not an object");
    assert_run_refused("\"backends\":[", "\"backends\":[],\"old\":[", "backends is an empty list");
    assert_run_refused("\"cases\":[", "\"cases\":{},\"old\":[", "cases is an object, not a list");
    assert_run_refused("\"cases\":[", "\"cases\":[1,", "cases[0].name is missing");
}

static void a_wrong_figure_is_refused_by_name(void **state)
{
    (void)state;
    assert_sample_refused("\"operations\":44", "\"operations\":-1", "f.jsonl:2: operations is -1");
    assert_sample_refused("\"operations\":44", "\"operations\":1e3", "operations is 1000");
    assert_sample_refused("\"operations\":44", "\"operations\":null", "operations is null");
    assert_sample_refused("\"operations\":44,", "", "operations is missing");
    assert_sample_refused("\"operations\":44", "\"operations\":9223372036854775808",
                          "a number is out of range");
    assert_sample_refused("\"metric\":", "\"metric\":NaN,\"old\":", "not valid JSON");
    assert_sample_refused("\"metric\":", "\"metric\":-Infinity,\"old\":", "not valid JSON");
    assert_sample_refused("\"metric\":", "\"metric\":1e999,\"old\":", "out of range");
    assert_sample_refused("\"metric\":", "\"metric\":-1,\"old\":", "metric is -1");
    assert_sample_refused("\"metric\":", "\"metric\":true,\"old\":", "metric is true");
    assert_sample_refused("\"metric\":", "\"bytes\":0,\"metric\":", "a member is there twice");
    assert_sample_refused("\"latency\":", "\"old\":", "latency.mean_ns is missing");
    assert_sample_refused("\"min_ns\":80", "\"min_ns\":8065", "quantiles fall");
    assert_sample_refused("\"histogram\":", "\"histogram\":{},\"old\":", "not a list");
    assert_sample_refused("[90,3]", "[90,0]", "latency.histogram[0] is not a pair");
    assert_sample_refused("[90,3]", "[90]", "latency.histogram[0] is not a pair");
    assert_sample_refused("[90,3]", "[90,3,1]", "latency.histogram[0] is not a pair");
    assert_sample_refused("[90,3]", "[-90,3]", "latency.histogram[0] is not a pair");
    assert_sample_refused("[90,3]", "[90,2.5]", "latency.histogram[0] is not a pair");
    assert_sample_refused("[90,3]", "[8064,3]", "latency.histogram[1] is not a pair");
    assert_sample_refused("[90,3]", "[90,9223372036854775807]", "more than 2^63");
    assert_sample_refused(
        "\"counters\":", "\"counters\":[],\"old\":", "counters.syscalls is missing");
    assert_sample_refused("\"recv\":201", "\"recv\":-1", "counters.syscalls.recv is -1");
    assert_sample_refused("\"recv\":201", "\"splice\":1", "unknown kind splice");
    assert_sample_refused("\"wakeups\":102,", "", "counters.wakeups is missing");
}

static void a_sample_that_is_not_of_this_run_is_refused(void **state)
{
    (void)state;
    assert_sample_refused("\"run\":\"4f6d1c\"", "\"run\":\"other\"", "run is not \"4f6d1c\"");
    assert_sample_refused("\"case_index\":0", "\"case_index\":3", "the run has 3 cases");
    assert_sample_refused("\"case_index\":0", "\"case_index\":-1", "case_index is -1");
    assert_sample_refused("\"case_index\":0", "\"case_index\":1",
                          "case is not \"event_loop/post\"");
    assert_sample_refused("\"backend_index\":0", "\"backend_index\":3", "the run has 3 backends");
    assert_sample_refused("\"backend_index\":0", "\"backend_index\":1",
                          "backend is not \"io_uring:hybrid=1\"");
    assert_sample_refused("\"iteration\":0", "\"iteration\":2",
                          "iteration is 2, but the run has 2");
}

static void a_status_that_does_not_fit_its_reason_is_refused(void **state)
{
    (void)state;
    assert_sample_refused("\"status\":\"ok\"", "\"status\":\"fine\"", "status is not ok, failed");
    assert_sample_refused("\"status\":\"ok\"", "\"status\":1", "status is not ok, failed");
    assert_sample_refused("\"status\":\"ok\"", "\"status\":\"failed\"", "failed without a reason");
    assert_sample_refused("\"reason\":null", "\"reason\":\"hm\"", "ok with a reason");
    assert_sample_refused("\"reason\":null,", "", "reason is missing");
}

static void a_sample_given_twice_is_refused_with_both_lines(void **state)
{
    (void)state;
    struct text text = fixture_text(3, false);
    char *second = strchr(strchr(text.bytes, '\n') + 1, '\n') + 1;
    size_t bytes = (size_t)(strchr(second, '\n') - second) + 1;
    char *copy = strndup(second, bytes);
    add_string(&text, copy);
    free(copy);
    assert_refused(text, -EBADMSG,
                   "f.jsonl:5: iteration 1 of socket_latency/pingpong/64 on reactor is already on "
                   "line 3; delete one");
}

static void records_out_of_order_are_refused(void **state)
{
    (void)state;
    struct text text = fixture_text(1, false), whole = fixture_text(1, true), again = {0};
    add_string(&again, strchr(text.bytes, '\n') + 1);
    assert_refused(again, -EBADMSG, "a sample record before the run record");
    again = (struct text){0};
    add_string(&again, text.bytes);
    add_string(&again, text.bytes);
    assert_refused(again, -EBADMSG, "f.jsonl:3: a second run record");
    again = (struct text){0};
    add_string(&again, whole.bytes);
    add_string(&again, strchr(text.bytes, '\n') + 1);
    assert_refused(again, -EBADMSG, "f.jsonl:4: follows the end record");
    again = (struct text){0};
    add_string(&again, text.bytes);
    add_string(&again, "{\"record\":\"note\"}\n");
    assert_refused(again, -EBADMSG, "f.jsonl:3: not a sample or end record");
    again = (struct text){0};
    add_string(&again, text.bytes);
    add_string(&again, "\n");
    assert_refused(again, -EBADMSG, "f.jsonl:3: not valid JSON");
    free(text.bytes);
    free(whole.bytes);
}

static void an_end_that_counts_other_samples_is_refused(void **state)
{
    (void)state;
    struct text text = fixture_text(2, true);
    replace(&text, "\"samples\":2", "\"samples\":3");
    assert_refused(text, -EBADMSG, "samples is 3, but 2 are here");
    text = fixture_text(2, true);
    replace(&text, "\"samples\":2", "\"samples\":2.0");
    assert_refused(text, -EBADMSG, "samples is 2, but");
}

static void a_line_broken_before_the_last_is_refused_with_its_number(void **state)
{
    (void)state;
    struct text text = fixture_text(4, true);
    replace(&text, "\"operations\":44", "\"operations\"\n:44");
    assert_refused(text, -EBADMSG, "f.jsonl:2: not valid JSON");
}

static void invalid_utf8_is_refused(void **state)
{
    (void)state;
    assert_sample_refused("overflowed", "over\xc3(flowed", "f.jsonl:2: not valid UTF-8");
    assert_sample_refused("overflowed", "over\xed\xa0\x80", "f.jsonl:2: not valid UTF-8");
}

static void a_string_of_ten_kilobytes_is_refused(void **state)
{
    (void)state;
    char *string = malloc(10001);
    memset(string, 'a', 10000);
    string[10000] = '\0';
    assert_sample_refused("the ring overflowed 2 times", string,
                          "warning has 10000 bytes, more than 8191");
    string[300] = '\0';
    assert_run_refused("event_loop/post", string, "cases[1].name has 300 bytes, more than 255");
    free(string);
}

static void very_deep_nesting_is_refused(void **state)
{
    (void)state;
    enum {
        DEPTH = 200000
    };
    char *deep = malloc(DEPTH + 32);
    int at = sprintf(deep, "\"deep\":");
    memset(deep + at, '[', DEPTH);
    strcpy(deep + at + DEPTH, ",\"metric\":");
    assert_sample_refused("\"metric\":", deep, "f.jsonl:2: nested too deeply");
    free(deep);
}

static void a_line_above_sixteen_megabytes_is_refused(void **state)
{
    (void)state;
    struct text text = fixture_text(1, false);
    char *huge = malloc(LM_RESULTS_LINE_BYTES + 2);
    memset(huge, ' ', LM_RESULTS_LINE_BYTES + 1);
    huge[LM_RESULTS_LINE_BYTES + 1] = '\0';
    add_string(&text, huge);
    free(huge);
    assert_refused(text, -EBADMSG, "f.jsonl:3: longer than 16777216 bytes");
}

static void a_path_that_can_not_be_read_is_named_with_its_cause(void **state)
{
    (void)state;
    struct lm_results results;
    char error[256];
    assert_int_equal(lm_results_read("/no/such.jsonl", &results, error, sizeof(error)), -ENOENT);
    assert_string_equal(error, "/no/such.jsonl: No such file or directory; name a file that "
                               "`loopmark run` wrote");
    assert_int_equal(lm_results_read("/", &results, error, sizeof(error)), -EISDIR);
    assert_ptr_equal(strstr(error, "/: can not be read: Is a directory; name a file"), error);
    char path[] = "/tmp/lm_results_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    chmod(path, 0);
    if (geteuid() != 0) {
        assert_int_equal(lm_results_read(path, &results, error, sizeof(error)), -EACCES);
        assert_non_null(strstr(error, "Permission denied"));
    }
    unlink(path);
}

static void an_endless_device_is_refused(void **state)
{
    (void)state;
    struct lm_results results;
    char error[256];
    assert_int_equal(lm_results_read("/dev/zero", &results, error, sizeof(error)), -EBADMSG);
    assert_string_equal(error, "/dev/zero: not a loopmark results file: name one that `loopmark "
                               "run` wrote");
}

static void a_file_on_disk_reads_as_the_same_bytes_do(void **state)
{
    (void)state;
    struct text text = fixture_text(17, true);
    char path[] = "/tmp/lm_results_XXXXXX", error[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.bytes, text.length), (ssize_t)text.length);
    close(fd);
    struct lm_results results;
    assert_int_equal(lm_results_read(path, &results, error, sizeof(error)), 0);
    unlink(path);
    assert_string_equal(results.path, path);
    assert_int_equal(results.sample_count, 17);
    assert_int_equal(results.whole_bytes, text.length);
    assert_true(results.ended && !results.torn);
    lm_results_free(&results);
    free(text.bytes);
}

static void collect(void *context, const char *line)
{
    char *all = context;
    strcat(strcat(all, line), "\n");
}

static void differing_settings_of_two_runs_are_listed(void **state)
{
    (void)state;
    struct lm_run a = fixture_run("a"), b = fixture_run("b");
    struct lm_run_backend backends[] = {fixture_backends[0], fixture_backends[1]};
    char lines[1024] = "";
    b.label = (char *)"before";
    b.seed = 4;
    assert_int_equal(lm_run_differences(&a, &b, collect, lines), 0);
    backends[0].settings = (char *)"order=two_phase";
    b.backends = backends;
    b.backend_count = 2;
    b.duration_s = 2;
    b.interleaved = false;
    assert_int_equal(lm_run_differences(&a, &b, collect, lines), 3);
    assert_string_equal(lines, "duration_s: 0.1 against 2.0\n"
                               "interleaved: true against false\n"
                               "backends.reactor: order=eager against order=two_phase\n");
    json_decref(a.environment);
    json_decref(b.environment);
}

static void every_kind_of_system_call_has_a_name(void **state)
{
    (void)state;
    for (int kind = 0; kind < LM_SYS_COUNT; kind++) {
        assert_non_null(lm_syscall_name((enum lm_syscall)kind));
    }
    assert_null(lm_syscall_name(LM_SYS_COUNT));
}

/* Names of all members at any depth, as `name` in the document. */
static void assert_documented(const char *document, const json_t *value)
{
    const char *name;
    json_t *inner;
    size_t index;
    char quoted[64];
    json_object_foreach((json_t *)value, name, inner)
    {
        snprintf(quoted, sizeof(quoted), "`%s`", name);
        if (!strstr(document, quoted)) {
            print_error("results.md does not name %s\n", name);
        }
        assert_non_null(strstr(document, quoted));
        assert_documented(document, inner);
    }
    json_array_foreach(value, index, inner)
    {
        assert_documented(document, inner);
    }
}

static void every_member_is_in_the_document(void **state)
{
    (void)state;
    FILE *file = fopen(LM_SOURCE_DIR "/harness/results.md", "r");
    assert_non_null(file);
    char *document = calloc(1, 1 << 16);
    assert_in_range(fread(document, 1, (1 << 16) - 1, file), 1, (1 << 16) - 2);
    fclose(file);
    struct lm_run run = fixture_run("a");
    struct lm_sample sample = fixture_sample(0, 0, 0);
    json_decref(run.environment);
    run.environment = lm_environment_capture();
    sample.counters.syscalls[0] = 1;
    json_t *records = json_array();
    json_array_append_new(records, lm_run_to_json(&run));
    json_array_append_new(records, lm_sample_to_json(&run, &sample));
    json_array_append_new(records, lm_end_to_json(&run, 0));
    assert_int_equal(json_array_size(records), 3);
    assert_documented(document, records);
    json_decref(records);
    json_decref(run.environment);
    free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_of_a_run_comes_back),
        cmocka_unit_test(every_member_of_a_sample_comes_back),
        cmocka_unit_test(a_failed_sample_comes_back_with_its_reason),
        cmocka_unit_test(text_from_a_dying_worker_is_stored_as_one_clean_line),
        cmocka_unit_test(a_number_beyond_json_becomes_the_largest_one),
        cmocka_unit_test(unknown_members_are_ignored),
        cmocka_unit_test(a_file_from_before_floors_were_told_is_read),
        cmocka_unit_test(lines_with_carriage_returns_are_read),
        cmocka_unit_test(a_file_cut_anywhere_is_read_or_refused_with_a_reason),
        cmocka_unit_test(a_foreign_file_is_named_as_such),
        cmocka_unit_test(an_empty_file_is_refused),
        cmocka_unit_test(a_newer_schema_is_refused_with_both_numbers),
        cmocka_unit_test(a_wrong_run_record_is_refused),
        cmocka_unit_test(a_wrong_figure_is_refused_by_name),
        cmocka_unit_test(a_sample_that_is_not_of_this_run_is_refused),
        cmocka_unit_test(a_status_that_does_not_fit_its_reason_is_refused),
        cmocka_unit_test(a_sample_given_twice_is_refused_with_both_lines),
        cmocka_unit_test(records_out_of_order_are_refused),
        cmocka_unit_test(an_end_that_counts_other_samples_is_refused),
        cmocka_unit_test(a_line_broken_before_the_last_is_refused_with_its_number),
        cmocka_unit_test(invalid_utf8_is_refused),
        cmocka_unit_test(a_string_of_ten_kilobytes_is_refused),
        cmocka_unit_test(very_deep_nesting_is_refused),
        cmocka_unit_test(a_line_above_sixteen_megabytes_is_refused),
        cmocka_unit_test(a_path_that_can_not_be_read_is_named_with_its_cause),
        cmocka_unit_test(an_endless_device_is_refused),
        cmocka_unit_test(a_file_on_disk_reads_as_the_same_bytes_do),
        cmocka_unit_test(differing_settings_of_two_runs_are_listed),
        cmocka_unit_test(every_kind_of_system_call_has_a_name),
        cmocka_unit_test(every_member_is_in_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
