# Text files as constants of the binary: viewers and pages that must work without files beside them.

set(VESTA_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed_text.cmake")

# vesta_embed(OUT_VAR SYMBOL HEADER path/to.h FILES a.js b.js ...)
#   Concatenates FILES in order into one constant `const EmbeddedText vesta::SYMBOL` (its text and SHA-256, which a
#   Content-Security-Policy can name). HEADER declares it. Appends the generated .cc to the list OUT_VAR. Rebuilt when a
#   file changes.
function(vesta_embed out_var symbol)
  cmake_parse_arguments(ARG "" "HEADER" "FILES" ${ARGN})
  set(inputs "")
  foreach(file ${ARG_FILES})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND inputs "${file}")
  endforeach()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc")
  string(REPLACE ";" "|" joined "${inputs}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DSYMBOL=${symbol}" "-DHEADER=${ARG_HEADER}" "-DINPUTS=${joined}" "-DOUTPUT=${output}"
            -P "${VESTA_EMBED_SCRIPT}"
    DEPENDS ${inputs} "${VESTA_EMBED_SCRIPT}"
    COMMENT "Embedding ${symbol}"
    VERBATIM)
  set_source_files_properties("${output}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # all have the same names inside
  set(${out_var} ${${out_var}} "${output}" PARENT_SCOPE)
endfunction()
