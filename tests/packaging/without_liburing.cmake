# A build without liburing: the program still builds and says what is missing and what brings it.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

must(${configure} -DBUILD_TESTING=OFF -DLOOPMARK_WITH_LIBURING=OFF)
must(${CMAKE_COMMAND} --build ${WORK}/build --target loopmark --parallel 2)
must(${WORK}/build/loopmark list --backends)
expect("io_uring.*built without liburing.*liburing-dev")
