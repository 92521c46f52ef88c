# shellcheck shell=bash
# common.sh - what the scripts of this folder share; sourced, never run. Nothing here installs,
# builds or tests anything.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=ci/$(basename "$0")

say()
{
    printf '%s: %s\n' "$script" "$*" >&2
}

# fail EXIT-CODE TEXT
fail()
{
    local code=$1
    shift
    say "$@"
    exit "$code"
}

# The comment at the top of the calling script is its manual.
print_usage()
{
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}
