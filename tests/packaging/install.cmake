# Installs into a prefix nobody configured, then builds a plugin, as C and as C++, from what
# pkg-config says about it.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
must(${WORK}/prefix/bin/loopmark --version)
expect("^loopmark [0-9]+[.][0-9]+[.][0-9]+")

set(ENV{PKG_CONFIG_PATH} ${WORK}/prefix/share/pkgconfig)
must(${PKG_CONFIG} --cflags loopmark)
separate_arguments(cflags UNIX_COMMAND "${output}")

set(flags -Wall -Wextra -Wpedantic -Werror -fPIC -shared ${cflags})
set(plugin ${CMAKE_CURRENT_LIST_DIR}/plugin.c)
must(${CC} -std=c11 ${flags} ${plugin} -o ${WORK}/plugin_c.so)
must(${CXX} -std=c++17 -x c++ ${flags} ${plugin} -o ${WORK}/plugin_cxx.so)
