# SPDX-License-Identifier: GPL-3.0-or-later
def watch(): pass
def record(): pass
class Watch: pass
