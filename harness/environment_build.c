/* What this program was built from and with. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <features.h>
#endif
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "harness/environment_parts.h"
#include "lm_commit.h"
#include "lm_config.h"

static void add_libc(json_t *environment)
{
#ifdef __GLIBC__
    char text[64];
    snprintf(text, sizeof(text), "glibc %s", gnu_get_libc_version());
    lm_environment_put_text(environment, "libraries", "libc", text);
#else
    (void)environment; /* musl and the BSD libraries do not tell their version */
#endif
}

/* The version of the liburing in use. Looked up by name: 2.3 does not tell it, 2.4 and later do. */
static void add_liburing_running(json_t *environment)
{
    int (*major)(void), (*minor)(void);
    void *symbol = dlsym(RTLD_DEFAULT, "io_uring_major_version");
    void *other = dlsym(RTLD_DEFAULT, "io_uring_minor_version");
    if (symbol && other) {
        char text[32];
        memcpy(&major, &symbol, sizeof(major)); /* ISO C has no cast from void * to a function */
        memcpy(&minor, &other, sizeof(minor));
        snprintf(text, sizeof(text), "%d.%d", major(), minor());
        lm_environment_put_text(environment, "libraries", "liburing_running", text);
    }
}

static void add_libraries(json_t *environment)
{
    add_libc(environment);
    lm_environment_put_text(environment, "libraries", "liburing", LM_LIBURING_VERSION);
    add_liburing_running(environment);
    lm_environment_put_text(environment, "libraries", "jansson", JANSSON_VERSION);
#if JANSSON_VERSION_HEX >= 0x020d00 /* 2.13 */
    lm_environment_put_text(environment, "libraries", "jansson_running", jansson_version_str());
#endif
    lm_environment_put_text(environment, "libraries", "benchmark", LM_BENCHMARK_VERSION);
}

void lm_environment_add_build(json_t *environment)
{
    lm_environment_put_text(environment, "build", "version", LM_VERSION);
    lm_environment_put_text(environment, "build", "commit", LM_COMMIT);
    lm_environment_put_text(environment, "build", "branch", LM_BRANCH);
    if (LM_COMMIT[0]) {
        lm_put(environment, "build", "dirty", json_boolean(LM_COMMIT_DIRTY));
    }
    lm_environment_put_text(environment, "build", "type", LM_BUILD_TYPE);
    lm_environment_put_text(environment, "build", "compiler", LM_COMPILER);
    lm_environment_put_text(environment, "build", "flags", LM_COMPILE_FLAGS);
    lm_environment_put_text(environment, "build", "sanitizer", LM_SANITIZE);
    lm_environment_put_text(environment, "build", "cmake", LM_CMAKE_VERSION);
    add_libraries(environment);
}
