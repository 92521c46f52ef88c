/* The io_uring backend's settings: which exclude each other, what gives way where the user has not
 * decided, and what a person is told. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/io_uring_testing.h"

#ifdef LM_HAVE_LIBURING

static void assert_refused(const char *text, const char *reason)
{
    struct lm_spec spec = spec_of(text);
    struct lm_loop_config config = {.threads = 1, .options = spec.options};
    struct lm_loop *loop;
    char why[256] = "";

    assert_int_equal(ring->available(spec.options, why, sizeof(why)), -EINVAL);
    if (!strstr(why, reason)) {
        fail_msg("%s: \"%s\" does not say \"%s\"", text, why, reason);
    }
    assert_null(strchr(why, '\n'));
    assert_int_equal(ring->loop_create(&config, &loop), -EINVAL);
}

static void settings_that_exclude_each_other_are_refused_by_name(void **state)
{
    (void)state;
    assert_refused("io_uring:sqpoll=1,defer_taskrun=1", "sqpoll and defer_taskrun exclude");
    assert_refused("io_uring:sqpoll=1,coop_taskrun=1", "sqpoll and coop_taskrun exclude");
    assert_refused("io_uring:sqpoll=1,taskrun_flag=1", "sqpoll and taskrun_flag exclude");
    assert_refused("io_uring:defer_taskrun=1,coop_taskrun=1", "defer_taskrun and coop_taskrun");
    assert_refused("io_uring:hybrid=1,multishot_recv=1", "hybrid and multishot_recv exclude");
    assert_refused("io_uring:hybrid=1,zerocopy=1", "hybrid and zerocopy exclude");
}

static void settings_that_need_another_are_refused_without_it(void **state)
{
    (void)state;
    assert_refused("io_uring:hybrid_max=8", "add hybrid=1");
    assert_refused("io_uring:sqpoll_idle_ms=5", "add sqpoll=1");
    assert_refused("io_uring:defer_taskrun=1,single_issuer=0", "leave single_issuer=0 out");
    assert_refused("io_uring:taskrun_flag=1,defer_taskrun=0", "coop_taskrun=1");
    assert_refused("io_uring:entries=1024,cq_entries=512", "cq_entries=512 is less");
}

static void assert_described(const char *text, const char *with, const char *without)
{
    struct lm_spec spec = spec_of(text);
    char line[512] = "", why[256] = "";

    if (ring->available(spec.options, why, sizeof(why))) {
        fail_msg("%s: %s", text, why);
    }
    ring->describe(spec.options, line, sizeof(line));
    if (!strstr(line, with) || (without && strstr(line, without))) {
        fail_msg("%s: with \"%s\", without \"%s\": %s", text, with, without, line);
    }
    assert_null(strchr(line, '\n'));
}

static void what_is_in_force_names_library_kernel_and_work(void **state)
{
    (void)state;
    assert_described("io_uring", "liburing 2.", NULL);
    assert_described("io_uring", ", Linux ", NULL);
    assert_described("io_uring", "order two_phase, at most 262144 bytes a send", "hybrid");
    assert_described("io_uring:order=eager", "order eager", NULL);
    assert_described("io_uring:entries=100", "128 submission and 65536 completion", NULL);
    assert_described("io_uring:hybrid=1", "hybrid up to 4 operations", NULL);
    assert_described("io_uring:async_close=1,cqe_skip=1", "async_close, cqe_skip", NULL);
    assert_described("io_uring:registered_ring=0", "ring descriptor plain", NULL);
    assert_described("io_uring:spin_us=7", "looks 7 us before sleeping", NULL);
    assert_described("io_uring:fixed_files=0", "ring flags", "descriptors registered");
}

static void what_is_left_at_auto_gives_way_and_is_not_in_force(void **state)
{
    (void)state;
    assert_described("io_uring:sqpoll=1", "SINGLE_ISSUER|SQPOLL", "TASKRUN");
    assert_described("io_uring:single_issuer=0", "ring flags none", "TASKRUN");
    assert_described("io_uring:defer_taskrun=0", "ring flags SINGLE_ISSUER,", "TASKRUN");
    assert_described("io_uring:coop_taskrun=1", "COOP_TASKRUN|TASKRUN_FLAG", "DEFER");
    assert_described("io_uring:single_issuer=0,defer_taskrun=0,registered_ring=0,fixed_files=0",
                     "ring flags none, ring descriptor plain", "registered");
}

static void each_setting_alone_runs_here_or_says_what_it_needs(void **state)
{
    (void)state;
    for (const struct lm_option *option = ring->options; option->key; option++) {
        struct lm_spec spec = spec_of("io_uring");
        char why[256] = "";
        if (option->maximum > 2) {
            continue;
        }
        spec.options[option - ring->options] = option->maximum;
        if (ring->available(spec.options, why, sizeof(why))) {
            assert_non_null(strstr(why, option->key));
            assert_non_null(strstr(why, "needs Linux"));
        }
    }
}

static void a_short_text_is_never_overrun(void **state)
{
    (void)state;
    struct lm_spec good = spec_of("io_uring"), bad = spec_of("io_uring:hybrid_max=8");

    for (size_t bytes = 1; bytes < 300; bytes++) {
        char text[301];
        memset(text, 'x', sizeof(text));
        ring->describe(good.options, text, bytes);
        assert_int_equal(text[bytes], 'x');
        assert_non_null(memchr(text, '\0', bytes));
        memset(text, 'x', sizeof(text));
        ring->available(bad.options, text, bytes);
        assert_int_equal(text[bytes], 'x');
    }
}

/* Runs in a child, because the limit stays. */
static int run_out_of_descriptors(void)
{
    struct lm_spec spec = spec_of("io_uring");
    struct rlimit limit = {.rlim_cur = 3, .rlim_max = 3};
    char why[256] = "";

    if (setrlimit(RLIMIT_NOFILE, &limit) ||
        ring->available(spec.options, why, sizeof(why)) != -EMFILE) {
        return 1;
    }
    return strstr(why, "ulimit -n") ? 0 : 2;
}

static void running_out_of_descriptors_names_the_limit(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        _exit(run_out_of_descriptors());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_that_exclude_each_other_are_refused_by_name),
        cmocka_unit_test(settings_that_need_another_are_refused_without_it),
        cmocka_unit_test(what_is_in_force_names_library_kernel_and_work),
        cmocka_unit_test(what_is_left_at_auto_gives_way_and_is_not_in_force),
        cmocka_unit_test(each_setting_alone_runs_here_or_says_what_it_needs),
        cmocka_unit_test(a_short_text_is_never_overrun),
        cmocka_unit_test(running_out_of_descriptors_names_the_limit),
    };
    const char *why = ring_missing();
    if (why) {
        puts(why);
        return EXIT_SKIP;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("this build has no io_uring backend: liburing was not found");
    return EXIT_SKIP;
}

#endif
