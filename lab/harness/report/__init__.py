"""What came of a run, as one page of HTML that needs nothing but itself.

excerpt     a text that others wrote, the middle of a long one left out
again       the commands that run tests again
entry       one test, as the page tells of it
summary     all of them, in figures
page        the page: its template, its style, and the few lines by which it is searched

Whatever is shown may have been written by anybody: logs, events, names. The template engine escapes
all of it, what is hidden in it is made to be seen, and the page's own policy keeps a browser from
loading anything or running what it holds.
"""

from lab.harness.report.page import page

__all__ = ["page"]
