#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What help2man makes the manual page of relascope-cli of (app/install/CMakeLists.txt): the help of the program, and
# that of each command as a section. usage: PROGRAM=relascope-cli all_help.sh --help
"$PROGRAM" --help | sed 's|^Usage: .*/|Usage: |'
for command in $("$PROGRAM" --help | sed -n '/^Subcommands:/,$ s/^  \([a-z]*\) .*/\1/p'); do
  printf '\n*%s*\n\n' "$command"
  "$PROGRAM" "$command" --help | sed "s|^Usage: .*/|\\nUsage: |; s|^Positionals:||; s|^Options:||"
done
