#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes jargon-extract.txt.gz, the English text that comes with the program: the introduction and the entries A to C of the
# Jargon File 4.4.7, which is in the public domain and says so in its first lines.
# usage: make.sh [JARGON]      JARGON: jargon.txt.gz of Debian's package jargon-text 4.4.7
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
zcat "${1:-/usr/share/doc/jargon-text/jargon.txt.gz}" | sed -n '121,14246p' | gzip -9n > "$here/jargon-extract.txt.gz"
