# Writes OUTPUT, a C file with each of FILES (a list) as an array lm_asset_NAME_EXTENSION that ends
# in a NUL.
set(text "/* Written by cmake/assets.cmake from the files of report/. */\n")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    string(REPLACE "." "_" name ${name})
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    string(APPEND text "extern const char lm_asset_${name}[];\nconst char lm_asset_${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
