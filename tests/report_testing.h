/* report_testing.h - small results files and what is made of them, for tests of `loopmark report`.
 *
 * Included by one test program each, hence the static functions.
 */
#ifndef LM_TEST_REPORT_TESTING_H
#define LM_TEST_REPORT_TESTING_H

#include "tests/program.h"

/* A whole file; the caller frees it. */
static inline char *read_file(const char *path)
{
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        fail_msg("%s: %s", path, strerror(errno));
    }
    struct stat status;
    assert_int_equal(fstat(fileno(in), &status), 0);
    char *text = calloc(1, (size_t)status.st_size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)status.st_size, in), status.st_size);
    fclose(in);
    return text;
}

static inline void assert_file_has(const char *path, const char *words)
{
    char *text = read_file(path);
    if (strstr(text, words) == NULL) {
        fail_msg("%s does not have: %s", path, words);
    }
    free(text);
}

static inline bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A small results file, measured on `kernel` at `date`; `figure` is every good sample's. */
static inline void write_results(const char *path, const char *kernel, const char *date,
                                 double figure)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "{\"record\":\"run\",\"schema\":1,\"id\":\"r1\",\"label\":\"\",\"iterations\":3,"
                 "\"duration_s\":0.1,\"warmup_s\":0.05,\"timeout_s\":20.0,\"seed\":\"7\","
                 "\"interleaved\":true,\"baseline_index\":0,\"backends\":[");
    for (int i = 0; i < 2; i++) {
        fprintf(out,
                "%s{\"spec\":\"%s\",\"title\":\"t\",\"settings\":\"\",\"unavailable\":null,"
                "\"aa\":false}",
                i > 0 ? "," : "", i > 0 ? "epoll" : "reactor");
    }
    fprintf(out,
            "],\"cases\":[{\"name\":\"fan_out/fork_join/1\",\"family\":\"fan_out\",\"operation\":"
            "\"one join\",\"unit\":\"ops/s\",\"higher_is_better\":true,\"micro\":false,\"split\":"
            "false}],\"environment\":{\"date_utc\":\"%s\",\"os\":{\"kernel\":\"%s\"}}}\n",
            date, kernel);
    for (int i = 0; i < 6; i++) {
        fprintf(
            out,
            "{\"record\":\"sample\",\"run\":\"r1\",\"case\":\"fan_out/fork_join/1\","
            "\"backend\":\"%s\",\"case_index\":0,\"backend_index\":%d,\"iteration\":%d,"
            "\"reason\":null,\"warning\":null,\"status\":\"ok\",\"metric\":%f,\"elapsed_s\":0.1,"
            "\"operations\":100,\"bytes\":0,\"drained_operations\":0,\"drained_bytes\":0,"
            "\"cpu_user_s\":0.01,\"cpu_system_s\":0.01,\"rss_peak_bytes\":1,\"rss_bytes\":1,"
            "\"voluntary_switches\":0,\"involuntary_switches\":0,\"latency\":{\"mean_ns\":10.0,"
            "\"min_ns\":10,\"p50_ns\":10,\"p90_ns\":10,\"p95_ns\":10,\"p99_ns\":10,\"p999_ns\":"
            "10,\"max_ns\":10,\"histogram\":[[10,100]]},\"counters\":{\"syscalls\":{\"send\":"
            "100},\"waits\":0,\"wakeups\":0,\"speculative_hits\":0,\"speculative_misses\":0,"
            "\"overflows\":0}}\n",
            i % 2 > 0 ? "epoll" : "reactor", i % 2, i / 2, figure + i);
    }
    fprintf(out, "{\"record\":\"end\",\"run\":\"r1\",\"samples\":6}\n");
    assert_int_equal(fclose(out), 0);
}

static inline void write_two_systems(void)
{
    write_results("linux.jsonl", "Linux", "2026-12-01T04:10:19Z", 1000.0);
    write_results("mac.jsonl", "Darwin", "2026-11-01T04:10:19Z", 2000.0);
}

#endif
