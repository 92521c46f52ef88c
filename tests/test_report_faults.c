/* `loopmark report` with files and folders that are not as expected. */
#include "tests/report_testing.h"

#include <sys/utsname.h>

static struct program program;

/* Runs a shell command that must succeed. */
static void shell(const char *command)
{
    if (system(command) != 0) {
        fail_msg("failed: %s", command);
    }
}

static void of_two_files_of_one_minute_the_later_is_taken(void **state)
{
    (void)state;
    write_results("a.jsonl", "Linux", "2026-12-01T04:10:05Z", 1000.0);
    write_results("b.jsonl", "Linux", "2026-12-01T04:10:55Z", 2000.0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "a.jsonl", "b.jsonl"), 0);
    assert_said(&program, "a.jsonl: left out, b.jsonl is of the same system");
    assert_file_has("pages/linux.md", "Generated from `b.jsonl`");
}

static void files_of_one_name_and_date_may_be_named_in_any_order(void **state)
{
    (void)state;
    shell("mkdir x y");
    write_results("x/r.jsonl", "Linux", "2026-12-01T04:10:05Z", 1000.0);
    write_results("y/r.jsonl", "Linux", "2026-12-01T04:10:05Z", 9000.0);
    for (int all = 0; all < 2; all++) {
        const char *option = all ? "--all" : "--format=md,adoc,html";
        assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", option, "--out", "one",
                                     "x/r.jsonl", "y/r.jsonl"),
                         0);
        assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", option, "--out", "two",
                                     "y/r.jsonl", "x/r.jsonl"),
                         0);
        shell("diff -r one two");
    }
}

static void systems_of_alike_names_keep_a_page_each(void **state)
{
    (void)state;
    write_results("a.jsonl", "A B", "2026-12-01T04:10:19Z", 1000.0);
    write_results("b.jsonl", "A/B", "2026-12-01T04:10:19Z", 1000.0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "a.jsonl", "b.jsonl"), 0);
    assert_file_has("pages/a-b--2026-12-01-04-10-utc-1.md", "Generated from `a.jsonl`");
    assert_file_has("pages/a-b--2026-12-01-04-10-utc-2.md", "Generated from `b.jsonl`");
}

static void a_system_named_like_another_page_does_not_take_its_place(void **state)
{
    (void)state;
    write_results("a.jsonl", "Index", "2026-12-01T04:10:19Z", 1000.0);
    write_results("b.jsonl", "methodology", "2026-12-01T04:10:19Z", 1000.0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "a.jsonl", "b.jsonl"), 0);
    assert_file_has("pages/index.md", "[`Index`](index--system.md)");
    assert_file_has("pages/index.md", "[`methodology`](methodology--system.md)");
    assert_true(exists("pages/index--system.html") && exists("pages/methodology.html"));
}

/* Asciidoctor makes a dash of two hyphens between words, also in the target of a link. */
static void two_hyphens_in_a_link_stay_two_hyphens_in_asciidoc(void **state)
{
    (void)state;
    write_results("a.jsonl", "Linux", "2026-12-01T04:10:19Z", 1000.0);
    write_results("b.jsonl", "Linux", "2026-12-02T04:10:19Z", 1000.0);
    assert_int_equal(
        PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "--all", "a.jsonl", "b.jsonl"), 0);
    assert_file_has("pages/index.adoc", "xref:linux\\--2026-12-02-04-10-utc-1.adoc#[");
    assert_file_has("pages/index.md", "](linux--2026-12-02-04-10-utc-1.md)");
}

static void page_takes_every_file_of_its_system_with_all(void **state)
{
    (void)state;
    write_two_systems();
    write_results("old.jsonl", "Linux", "2026-11-30T04:10:19Z", 1000.0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "--all", "--page", "Linux",
                                 "old.jsonl", "linux.jsonl", "mac.jsonl"),
                     0);
    assert_true(exists("pages/linux--2026-12-01-04-10-utc-1.md"));
    assert_true(exists("pages/linux--2026-11-30-04-10-utc-2.md"));
    assert_false(exists("pages/macos.md"));
}

static void os_names_the_system_of_a_results_file_that_does_not(void **state)
{
    (void)state;
    write_results("a.jsonl", "", "2026-12-01T04:10:19Z", 1000.0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "a.jsonl"), 2);
    assert_said(&program, "does not say on which system it was measured; name it with --os");
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "--os", "Plan 9", "a.jsonl"),
                     0);
    assert_true(exists("pages/plan-9.md"));
}

/* Where the folder is found last, the other files have been written by then. */
static void a_folder_in_a_pages_place_leaves_all_former_pages(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl"), 0);
    shell("rm pages/methodology.md && mkdir pages/methodology.md && cp -r pages before");
    write_results("linux.jsonl", "Linux", "2026-12-02T04:10:19Z", 3000.0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl"), 2);
    assert_said(&program, "loopmark report: pages/methodology.md: Is a directory; name another");
    shell("diff -r before pages");
}

/* The commands of a page are there to be pasted into a shell. */
static void a_commit_that_is_none_is_no_command(void **state)
{
    (void)state;
    write_results("a.jsonl", "Linux", "2026-12-01T04:10:19Z", 1000.0);
    shell("sed 's/\"environment\":{/&\"build\":{\"commit\":\"0abc12\"},/' a.jsonl >good.jsonl; "
          "sed 's/\"environment\":{/&\"build\":{\"commit\":\"0abc; id\"},/' a.jsonl >bad.jsonl");
    assert_int_equal(
        PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "--out", "good", "good.jsonl"), 0);
    assert_file_has("good/linux.md", "\ngit checkout 0abc12\nci/");
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "--out", "bad", "bad.jsonl"),
                     0);
    assert_file_has("bad/linux.md", "commit `0abc; id`");
    shell("! grep -q 'git checkout' bad/linux.*");
}

static void print_to_a_full_disk(void)
{
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        _exit(99);
    }
}

static void a_list_of_pages_that_can_not_be_printed_is_said(void **state)
{
    (void)state;
    write_two_systems();
    if (access("/dev/full", W_OK) != 0) {
        SKIP("there is no /dev/full");
    }
    assert_int_equal(
        PROGRAM_RUN(&program, print_to_a_full_disk, LM_PROGRAM, "report", "linux.jsonl"), 2);
    assert_said(&program, "standard output can not be written: No space left on device");
    assert_true(exists("pages/linux.md"));
    static const char *const commands[] = {"report", "compare"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            PROGRAM_RUN(&program, print_to_a_full_disk, LM_PROGRAM, commands[i], "--help"), 2);
        assert_said(&program, "standard output can not be written: No space left on device");
    }
}

/* ci/regenerate-pages with a finished run, and no building. */
static int regenerate(const char *results)
{
    assert_int_equal(setenv("LOOPMARK", LM_PROGRAM, 1), 0);
    return PROGRAM_RUN(&program, NULL, LM_TEST_DATA "/../../ci/regenerate-pages", "--pages",
                       "pages", "--from", results);
}

static void pages_that_can_not_be_regenerated_stay_as_they_are(void **state)
{
    (void)state;
    struct utsname system;
    assert_int_equal(uname(&system), 0);
    write_results("good.jsonl", system.sysname, "2026-12-01T04:10:19Z", 1000.0);
    write_results("next.jsonl", system.sysname, "2026-12-02T04:10:19Z", 1000.0);
    write_results("other.jsonl", "Plan 9", "2026-12-02T04:10:19Z", 1000.0);
    assert_int_equal(regenerate("good.jsonl"), 0);
    shell("cp -r pages before; gzip -k next.jsonl; truncate -s -20 next.jsonl.gz; "
          "sed 's/\"metric\":1000/\"metric\":-1/' next.jsonl >minus.jsonl");
    static const char *const wrong[][2] = {
        {"missing.jsonl", "missing.jsonl: No such file or directory; name a file"},
        {"next.jsonl.gz", "next.jsonl.gz: its compressed data is cut off or damaged"},
        {"minus.jsonl", "minus.jsonl:2: metric is -1"},
        {"other.jsonl", "no file is of"},
        {"", "--from needs a value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(regenerate(wrong[i][0]), 2);
        assert_said(&program, wrong[i][1]);
        shell("diff -r before pages");
    }
    /* A folder where a page belongs is found when all else is done. */
    shell("for p in pages before; do rm $p/index.md; mkdir $p/index.md; done");
    assert_int_equal(regenerate("next.jsonl"), 2);
    assert_said(&program, "index.md: Is a directory");
    shell("diff -r before pages");
}

static void charts_that_a_regenerated_page_has_no_more_go_away(void **state)
{
    (void)state;
    struct utsname system;
    assert_int_equal(uname(&system), 0);
    write_results("good.jsonl", system.sysname, "2026-12-01T04:10:19Z", 1000.0);
    assert_int_equal(regenerate("good.jsonl"), 0);
    shell("chart=$(ls pages/charts/*-summary.svg); touch \"${chart%summary.svg}gone.svg\" "
          "pages/charts/plan-9-summary.svg");
    assert_int_equal(regenerate("good.jsonl"), 0);
    shell("ls pages/charts; test ! -e pages/charts/*-gone.svg && "
          "test -e pages/charts/plan-9-summary.svg && test $(ls pages/charts | wc -l) = 3");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(of_two_files_of_one_minute_the_later_is_taken),
        IN_FOLDER(files_of_one_name_and_date_may_be_named_in_any_order),
        IN_FOLDER(systems_of_alike_names_keep_a_page_each),
        IN_FOLDER(a_system_named_like_another_page_does_not_take_its_place),
        IN_FOLDER(two_hyphens_in_a_link_stay_two_hyphens_in_asciidoc),
        IN_FOLDER(page_takes_every_file_of_its_system_with_all),
        IN_FOLDER(os_names_the_system_of_a_results_file_that_does_not),
        IN_FOLDER(a_folder_in_a_pages_place_leaves_all_former_pages),
        IN_FOLDER(a_commit_that_is_none_is_no_command),
        IN_FOLDER(pages_that_can_not_be_regenerated_stay_as_they_are),
        IN_FOLDER(charts_that_a_regenerated_page_has_no_more_go_away),
        IN_FOLDER(a_list_of_pages_that_can_not_be_printed_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
