/* Room on the machine: the verdict for given figures, and what a run does when room is short. */
#include "tests/program.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>

#include "harness/headroom.h"

static const struct lm_headroom plenty = {
    .descriptors = 1024,
    .open_descriptors = 5,
    .ports = 28232,
    .used_ports = 10,
    .backlog = 4096,
    .tracked = LM_HEADROOM_UNKNOWN,
    .tracked_most = LM_HEADROOM_UNKNOWN,
};

static void assert_verdict(const struct lm_headroom *headroom, enum lm_headroom_verdict verdict,
                           const char *words)
{
    char why[256] = "";
    const struct lm_case *which = lm_case_find("accept_churn/burst/100");
    assert_non_null(which);
    assert_int_equal(lm_headroom_judge(which, headroom, why, sizeof(why)), verdict);
    if (strstr(why, words) == NULL) {
        fail_msg("'%s' is not in: %s", words, why);
    }
}

static void an_ordinary_machine_has_room_for_every_case(void **state)
{
    (void)state;
    char why[256];
    for (size_t i = 0; i < lm_case_count(); i++) {
        assert_int_equal(lm_headroom_judge(lm_case_at(i), &plenty, why, sizeof(why)),
                         LM_HEADROOM_ENOUGH);
    }
}

static void every_case_with_sockets_says_what_it_needs(void **state)
{
    (void)state;
    for (size_t i = 0; i < lm_case_count(); i++) {
        const struct lm_case *which = lm_case_at(i);
        if (!(which->flags & LM_CASE_MICRO)) {
            assert_true(which->needs.descriptors >= 2 * which->pairs);
            assert_true(which->local || which->needs.ports > 0);
        }
    }
}

static void figures_that_are_not_known_stand_in_nobodys_way(void **state)
{
    (void)state;
    const uint64_t unknown = LM_HEADROOM_UNKNOWN;
    const struct lm_headroom nothing = {unknown, unknown, unknown, unknown,
                                        unknown, unknown, unknown};
    assert_verdict(&nothing, LM_HEADROOM_ENOUGH, "");
}

static void a_listen_queue_shorter_than_the_burst_is_refused(void **state)
{
    (void)state;
    struct lm_headroom headroom = plenty;
    headroom.backlog = 99;
    assert_verdict(&headroom, LM_HEADROOM_NEVER, "holds 99; raise net.core.somaxconn");
    headroom.backlog = 100;
    assert_verdict(&headroom, LM_HEADROOM_ENOUGH, "");
}

static void descriptors_already_open_count(void **state)
{
    (void)state;
    struct lm_headroom headroom = plenty;
    headroom.open_descriptors = 900;
    assert_verdict(&headroom, LM_HEADROOM_NEVER, "of 1024 allowed 900 are open; raise the limit");
}

static void ports_in_use_are_waited_for_and_a_small_range_is_not(void **state)
{
    (void)state;
    struct lm_headroom headroom = plenty;
    headroom.used_ports = headroom.ports - 100;
    assert_verdict(&headroom, LM_HEADROOM_LATER, "wait for those in TIME_WAIT");
    headroom.ports = 100;
    headroom.used_ports = 0;
    assert_verdict(&headroom, LM_HEADROOM_NEVER, "; widen net.ipv4.ip_local_port_range");
}

static void a_firewall_without_room_is_waited_for(void **state)
{
    (void)state;
    struct lm_headroom headroom = plenty;
    headroom.tracked_most = 1000;
    headroom.tracked = 950;
    assert_verdict(&headroom, LM_HEADROOM_LATER, "raise net.netfilter.nf_conntrack_max");
}

/* --- the program, where room is short */

static void allow_20_files(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 20, .rlim_max = 20});
}

static bool write_setting(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool fine = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
    if (fd >= 0) {
        close(fd);
    }
    return fine;
}

/* A network of its own, with these settings; ends the process where that is forbidden. */
static void enter_network(const char *path, const char *value)
{
    if (unshare(CLONE_NEWNET) != 0 || system("ip link set lo up") != 0 ||
        !write_setting(path, value)) {
        _exit(77);
    }
}

static void have_100_ports(void)
{
    enter_network("/proc/sys/net/ipv4/ip_local_port_range", "40000 40099");
}

static void have_a_listen_queue_of_99(void)
{
    enter_network("/proc/sys/net/core/somaxconn", "99");
}

/* Runs accept_churn, once each case, on epoll and the baseline; every sample is right or refused
 * with `words`. */
static void run_churn(void (*prepare)(void), const char *words)
{
    struct program program;
    struct lm_results results;
    char error[512];
    size_t refused = 0;
    const char *const argv[] = {LM_PROGRAM, "run",          "--case", "accept_churn/*", "--backend",
                                "epoll",    "--iterations", "1",      "--duration",     "0.02",
                                "--out",    "r.jsonl",      NULL};
    program_start(&program, prepare, argv);
    if (program_wait(&program) == 77) {
        SKIP("no network namespace can be made here");
    }
    if (program.code != 0) {
        fail_msg("exit code %d: %s", program.code, program.output);
    }
    if (lm_results_read("r.jsonl", &results, error, sizeof(error)) != 0) {
        fail_msg("%s", error);
    }
    assert_int_equal(results.sample_count, results.run.case_count * results.run.backend_count);
    for (size_t i = 0; i < results.sample_count; i++) {
        const struct lm_sample *sample = &results.samples[i];
        if (sample->status == LM_SAMPLE_SKIPPED) {
            assert_non_null(strstr(sample->reason, words));
            refused++;
        } else {
            assert_int_equal(sample->status, LM_SAMPLE_OK);
            assert_true(sample->has_network);
        }
    }
    assert_true(refused > 0 && refused < results.sample_count);
    lm_results_free(&results);
}

static void with_100_ports_cases_run_or_are_refused(void **state)
{
    (void)state;
    run_churn(have_100_ports, "widen net.ipv4.ip_local_port_range");
}

static void with_a_short_listen_queue_bursts_are_refused(void **state)
{
    (void)state;
    run_churn(have_a_listen_queue_of_99, "raise net.core.somaxconn");
}

static void with_20_descriptors_cases_run_or_are_refused(void **state)
{
    (void)state;
    run_churn(allow_20_files, "raise the limit of open files");
}

/* Another program of the same network, whose listener is too small for what comes. */
static void drop_connections(int until)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, bytes) != 0 ||
        listen(listener, 0) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &bytes) != 0) {
        _exit(1);
    }
    struct pollfd over = {.fd = until, .events = POLLIN};
    do {
        int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (client >= 0 && connect(client, (struct sockaddr *)&address, bytes) != 0 &&
            errno != EINPROGRESS) {
            close(client);
        }
    } while (poll(&over, 1, 2) == 0);
    _exit(0);
}

static void dropped_connections_are_told_in_the_sample_and_the_comparison(void **state)
{
    (void)state;
    struct program program;
    struct lm_results results;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t other = fork();
    if (other == 0) {
        close(ends[1]);
        drop_connections(ends[0]);
    }
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "run", "--case", "accept_churn/sequential", "--backend",
                "poll", "--baseline", "poll", "--iterations", "1", "--duration", "0.2", "--out",
                "r.jsonl");
    close(ends[1]);
    close(ends[0]);
    waitpid(other, NULL, 0);
    assert_code(&program, 0);
    assert_said(&program, "Warnings: counted, but read with care");
    assert_said(&program, "ListenOverflows");
    read_results("r.jsonl", &results);
    assert_true(results.samples[0].has_network);
    assert_true(results.samples[0].network.listen_overflows > 0);
    assert_true(results.samples[0].network.listen_drops > 0);
    lm_results_free(&results);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordinary_machine_has_room_for_every_case),
        cmocka_unit_test(every_case_with_sockets_says_what_it_needs),
        cmocka_unit_test(figures_that_are_not_known_stand_in_nobodys_way),
        cmocka_unit_test(a_listen_queue_shorter_than_the_burst_is_refused),
        cmocka_unit_test(descriptors_already_open_count),
        cmocka_unit_test(ports_in_use_are_waited_for_and_a_small_range_is_not),
        cmocka_unit_test(a_firewall_without_room_is_waited_for),
        IN_FOLDER(with_100_ports_cases_run_or_are_refused),
        IN_FOLDER(with_a_short_listen_queue_bursts_are_refused),
        IN_FOLDER(with_20_descriptors_cases_run_or_are_refused),
        IN_FOLDER(dropped_connections_are_told_in_the_sample_and_the_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
