# Run at each build: writes OUTPUT, a source with the commit of SOURCE, when that has changed. It is
# empty where SOURCE is no checkout, such as the files of a release.
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Written by TriremeCommit.cmake.
namespace trireme {
const char* build_commit() { return \"${commit}\"; }
}  // namespace trireme
")
