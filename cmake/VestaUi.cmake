# The web UI (ui/) is built with npm's packages, once for each build folder: a second, when nothing has to be installed.

# vesta_ui(OUTPUTS file... COMMAND arguments of scripts/build-ui...)
#   Runs scripts/build-ui when a source of the UI has changed.
function(vesta_ui)
  cmake_parse_arguments(ARG "" "" "OUTPUTS;COMMAND" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "${CMAKE_SOURCE_DIR}/ui/src/*.ts" "${CMAKE_SOURCE_DIR}/ui/src/*.tsx" "${CMAKE_SOURCE_DIR}/ui/src/*.css"
    "${CMAKE_SOURCE_DIR}/ui/public/*")
  list(FILTER sources EXCLUDE REGEX "\\.test\\.tsx?$")
  add_custom_command(
    OUTPUT ${ARG_OUTPUTS}
    COMMAND "${CMAKE_SOURCE_DIR}/scripts/build-ui" ${ARG_COMMAND}
    DEPENDS
      ${sources}
      "${CMAKE_SOURCE_DIR}/scripts/build-ui"
      "${CMAKE_SOURCE_DIR}/ui/index.html"
      "${CMAKE_SOURCE_DIR}/ui/package-lock.json"
      "${CMAKE_SOURCE_DIR}/ui/pack.mjs"
      "${CMAKE_SOURCE_DIR}/ui/vite.config.ts"
      "${CMAKE_SOURCE_DIR}/ui/vite.standalone.config.ts"
    COMMENT "Building the web UI: ${ARG_COMMAND}"
    VERBATIM)
endfunction()
