/* Resource snapshots of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/resource.h"
#include "lm_config.h"

enum {
    BLOCK_BYTES = 48 << 20
};

static const char *program;

static struct lm_resource snapshot(void)
{
    struct lm_resource resource;
    assert_int_equal(lm_resource_snapshot(&resource), 0);
    lm_resource_add_memory(&resource);
    return resource;
}

/* Mapped, because a sanitizer's free keeps the memory. */
static void *touched_block(void)
{
    void *block =
        mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(block, MAP_FAILED);
    memset(block, 1, BLOCK_BYTES);
    return block;
}

static void work_shows_as_cpu_time(void **state)
{
    (void)state;
    struct lm_resource begin = snapshot(), end = begin;
    for (volatile uint64_t n = 0;
         end.cpu_user_ns + end.cpu_system_ns < begin.cpu_user_ns + begin.cpu_system_ns + 20000000u;
         n++) {
        if (n % 1000000u == 0) {
            end = snapshot();
        }
    }
    struct lm_resource used;
    lm_resource_difference(&begin, &end, &used);
    assert_true(used.cpu_user_ns + used.cpu_system_ns >= 20000000u);
    assert_true(used.cpu_user_ns + used.cpu_system_ns <= end.cpu_user_ns + end.cpu_system_ns);
}

static void sleeping_shows_as_voluntary_switches(void **state)
{
    (void)state;
    struct lm_resource begin = snapshot();
    for (int i = 0; i < 5; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    struct lm_resource end = snapshot(), used;
    lm_resource_difference(&begin, &end, &used);
    assert_true(used.voluntary_switches >= 5);
}

static void touched_memory_shows_in_peak_and_current(void **state)
{
    (void)state;
    struct lm_resource begin = snapshot();
    void *block = touched_block();
    struct lm_resource with = snapshot();
    munmap(block, BLOCK_BYTES);
    struct lm_resource end = snapshot();
    assert_true(end.rss_peak_bytes >= BLOCK_BYTES);
    assert_true(end.rss_peak_bytes < (uint64_t)BLOCK_BYTES * 100u); /* the unit is right */
    if (begin.rss_bytes == 0) {
        return; /* not known on this system */
    }
    assert_true(with.rss_bytes >= begin.rss_bytes + BLOCK_BYTES / 2);
    assert_true(end.rss_bytes < with.rss_bytes);
}

/* The peak of a big runner was reported by every worker it started. */
static void a_started_program_does_not_inherit_the_peak_of_its_parent(void **state)
{
    (void)state;
#ifndef __linux__
    skip();
#endif
    void *block = touched_block();
    int out[2];
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        execl(program, program, "--print-peak", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    char text[64] = "";
    ssize_t bytes = read(out[0], text, sizeof(text) - 1);
    close(out[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    munmap(block, BLOCK_BYTES);
    assert_true(bytes > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint64_t peak_bytes = strtoull(text, NULL, 10);
    assert_true(peak_bytes > 0);
    if (sizeof(LM_SANITIZE) == 1) { /* a sanitizer's shadow alone is larger */
        assert_true(peak_bytes < BLOCK_BYTES / 2);
    }
}

static void a_difference_keeps_memory_and_never_runs_backwards(void **state)
{
    (void)state;
    struct lm_resource begin = {10, 20, 30, 40, 500, 600}, end = {15, 18, 33, 41, 900, 300};
    lm_resource_difference(&begin, &end, &end);
    assert_int_equal(end.cpu_user_ns, 5);
    assert_int_equal(end.cpu_system_ns, 0);
    assert_int_equal(end.voluntary_switches, 3);
    assert_int_equal(end.involuntary_switches, 1);
    assert_int_equal(end.rss_peak_bytes, 900);
    assert_int_equal(end.rss_bytes, 300);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 2 && strcmp(argv[1], "--print-peak") == 0) {
        struct lm_resource resource;
        int error = lm_resource_snapshot(&resource);
        lm_resource_add_memory(&resource);
        printf("%llu\n", (unsigned long long)resource.rss_peak_bytes);
        return error ? 1 : 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_shows_as_cpu_time),
        cmocka_unit_test(sleeping_shows_as_voluntary_switches),
        cmocka_unit_test(touched_memory_shows_in_peak_and_current),
        cmocka_unit_test(a_started_program_does_not_inherit_the_peak_of_its_parent),
        cmocka_unit_test(a_difference_keeps_memory_and_never_runs_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
