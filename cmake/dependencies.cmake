# What the project builds with: required libraries stop the configuration and name the package;
# optional ones are noted in generated/lm_config.h, from which `loopmark list` reports them.

function(lm_require found what debian homebrew freebsd)
    if(NOT ${found})
        message(FATAL_ERROR "${what} was not found. Run ci/install-deps, or install it by hand: "
            "Debian/Ubuntu: ${debian}; Homebrew: ${homebrew}; FreeBSD: ${freebsd}")
    endif()
endfunction()

find_package(PkgConfig QUIET)
lm_require(PkgConfig_FOUND "pkg-config" pkg-config pkgconf pkgconf)

find_package(benchmark 1.7.1 QUIET)
lm_require(benchmark_FOUND "Google Benchmark 1.7.1 or newer" libbenchmark-dev google-benchmark benchmark)

pkg_check_modules(JANSSON QUIET IMPORTED_TARGET jansson>=2.12)
lm_require(JANSSON_FOUND "Jansson 2.12 or newer" libjansson-dev jansson jansson)

find_package(ZLIB QUIET)
lm_require(ZLIB_FOUND "zlib" zlib1g-dev "part of macOS" "part of FreeBSD")

set(LM_HAVE_LIBURING FALSE)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND LOOPMARK_WITH_LIBURING)
    pkg_check_modules(LIBURING QUIET IMPORTED_TARGET liburing>=2.3)
    if(LIBURING_FOUND)
        set(LM_HAVE_LIBURING TRUE)
    endif()
endif()

# The commit is looked up at build time by git, so that a rebuilt tree never carries an old one.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(LM_COMPILE_FLAGS "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}")
string(STRIP "${LM_COMPILE_FLAGS}" LM_COMPILE_FLAGS)
configure_file(${CMAKE_SOURCE_DIR}/cmake/lm_config.h.in ${CMAKE_BINARY_DIR}/generated/lm_config.h)
