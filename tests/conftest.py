"""What holds for all tests: nobody looks at the clock on the wall, so no example is too slow on a busy machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("daybook", deadline=None)
settings.load_profile("daybook")
