"""What is over is found whatever was put, met and dropped before; a plain table of waits is the measure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from gateway.scheduling.clock import WaitQueue

BEGIN = datetime(2026, 11, 21, tzinfo=UTC)
ids = st.sampled_from("abcde")
moments = st.none() | st.integers(0, 20).map(lambda minutes: BEGIN + timedelta(minutes=minutes))
steps = st.one_of(
    st.tuples(st.just("meet"), ids),
    st.tuples(st.just("put"), ids, moments),
    st.tuples(st.just("drop"), ids),
    st.tuples(st.just("end")),
    st.tuples(st.just("over"), moments),
)


@given(st.lists(steps, max_size=200))
def test_waits_are_as_a_table_of_them_says(taken: list[tuple[str, ...] | tuple[str, str, datetime | None]]) -> None:
    waits, table, over = WaitQueue(), dict[str, datetime | None](), set[str]()
    for what, *arguments in taken:
        match what, arguments:
            case "meet", [str(id)]:
                waits.meet(id)
                table.pop(id, None)
                over.add(id)
            case "put", [str(id), until]:
                assert until is None or isinstance(until, datetime)
                waits.put(id, until)
                table[id] = until
                over.discard(id)
            case "drop", [str(id)]:
                waits.drop([id])
                table.pop(id, None)
                over.discard(id)
            case "end", _:
                waits.end()
                over |= table.keys()
                table.clear()
            case "over", [datetime() as now]:
                ended = {id for id, until in table.items() if until is not None and until <= now}
                over |= ended
                for id in ended:
                    del table[id]
                assert set(waits.over(now)) == over
        assert {id: waits[id] for id in "abcde"} == {id: table.get(id) for id in "abcde"}
        assert waits.next() == min((until for until in table.values() if until is not None), default=None)
