# run(COMMAND...) runs it, in WORK; `status` and `output` (both streams) are set for the caller.
function(run)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK}
        RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
    set(status "${code}" PARENT_SCOPE)
    set(output "${out}${err}" PARENT_SCOPE)
endfunction()

# must(COMMAND...) is run() of a command whose failure fails the test.
macro(must)
    run(${ARGN})
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "failed with ${status}: ${ARGN}\n${output}")
    endif()
endmacro()

# expect(REGEX) fails the test when `output` does not match it.
macro(expect regex)
    # CMake wraps its messages: one blank stands for any run of white space.
    string(REGEX REPLACE "[ \t\r\n]+" " " flat "${output}")
    if(NOT flat MATCHES "${regex}")
        message(FATAL_ERROR "nothing matches '${regex}' in:\n${output}")
    endif()
endmacro()

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${WORK}/build
    -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
