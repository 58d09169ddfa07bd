"""What is kept of a test that has failed, for whoever looks at it when the lab is long gone.

folder      where it is written: a folder per test
sources     what is gathered, each by itself: one that fails is written down, and stops none
redaction   what is taken out of it: tokens, passwords, the lab's own secrets
names       by what names secrets go, wherever they are
named       what stands behind such a name in a text
shapes      what looks like a secret by itself
"""

from lab.harness.evidence.collecting import Evidence, begun, collect

__all__ = ["Evidence", "begun", "collect"]
