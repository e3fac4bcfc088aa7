# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of the package, which is that of Relascope."""
__version__ = "0.8.0"
