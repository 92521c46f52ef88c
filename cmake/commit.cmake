# Writes OUTPUT, a header with the commit and the branch SOURCE_DIR is at and whether what is built
# differs from that commit.
# Run at every build (cmake -P), so that the program never names a commit it was not built from; the
# file is touched only when its contents change. Outside a git checkout the commit is empty, on
# no branch (a detached HEAD) the branch.
set(commit "")
set(branch "")
set(dirty 0)
set(built CMakeLists.txt cmake backends suites harness report main.c)
find_program(git_program git)
if(git_program)
    set(ENV{GIT_OPTIONAL_LOCKS} 0)
    execute_process(COMMAND ${git_program} rev-parse --show-cdup HEAD WORKING_DIRECTORY ${SOURCE_DIR}
        OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET)
    # An empty first line: SOURCE_DIR is the top of the checkout, not a folder in someone else's.
    if(NOT failed AND answer MATCHES "^\n([0-9a-f]+)\n$")
        set(commit ${CMAKE_MATCH_1})
        execute_process(COMMAND ${git_program} status --porcelain -- ${built}
            WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE changes RESULT_VARIABLE failed ERROR_QUIET)
        if(failed OR changes)
            set(dirty 1)
        endif()
        execute_process(COMMAND ${git_program} symbolic-ref --quiet --short HEAD
            WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET)
        # A name with a character that a C string would have to escape is left out.
        if(NOT failed AND answer MATCHES "^([^\"\\\\\n]+)\n$")
            set(branch ${CMAKE_MATCH_1})
        endif()
    endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"/* Written by cmake/commit.cmake at every build. */
#ifndef LM_COMMIT_H
#define LM_COMMIT_H

#define LM_COMMIT \"${commit}\"
#define LM_BRANCH \"${branch}\"
#define LM_COMMIT_DIRTY ${dirty}

#endif
")
