"""The words of an LP file, as regular expressions over its bytes."""

from __future__ import annotations

NUMBER = rb"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
NAME = rb"[^\s\d.\[\]<>=:+\-*/^\\][^\s\[\]<>=:+\-*/^\\]*"
TERM = rb"(?:%b[ \t]*\s*)?%b" % (NUMBER, NAME)
LABEL = rb"(?:[^\s:\[\]<>=]+\s*:)?"
SIGN = rb"(?:[+-]\s*)+"
TERMS = rb"(?:%b)?%b\s*(?:%b%b\s*)*" % (SIGN, TERM, SIGN, TERM)
SIDE = rb"[+-]?\s*(?:%b|inf(?:inity)?)" % NUMBER
SENSE = rb"(?:<=?|>=?|=)"
