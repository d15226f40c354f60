"""What Daybook costs and what it survives, measured against the strict fakes."""

from tests import forked

forked.plainly = True  # a gateway is measured as it starts on its own
