"""Documents keep what they say by their form: tables, headings, lists, the order of sheets and slides, notes."""

from __future__ import annotations

import zlib
from base64 import b64decode
from pathlib import Path

import pytest

from agent.media.reader import Reader
from agent.media.sniff import TOO_MUCH, Unreadable
from gateway.manifest import readers
from tests import files
from tests.agent.media.test_reading import read, refused

_OLD_EXCEL = zlib.decompress(
    b64decode(
        "eNrtWE1oE1EQ/t5u0vy0TTc/FVqhhIJVay/iRYR2VdCerLUiij9o2wSUtqmEXvSg1ZqTCIInxUuhHrxUvfiDHvTmQajoQRCExB49CYoe"
        "2mxnJruYxggNaMHwvuXNm503M29237yf3bcL0fzso/YCKtAHE0UnhIYymaIS8m4sULvjMOvVQSqOxn+FUJAGssGP581vAjyGPN4FGHjo"
        "e0UU+EzlJM5jYDKTTq4j9koMw4pj6CWqcJckEbRJVDGho0LjQh+I5guhu0VyQ2gv6ebVcSzYA9073Sw+ZnRKWwTs94nYfBTJdrTiNWfx"
        "5ZuqpOvHnuy54fG6b+jwNWEOlAL96Uw6y/eNuMfZcOLsqV0TE3kk6GYO350k8M1bA14mtXx95Qok/7laHviDPEilmjxEA1tNHq6if8vw"
        "AdNwzsgUzKERh33cYuLgeGoJLbIncCHpUDozFeYtQpYUa9WS0ixTrYloioyYj8qEsyjKpftf3x0YGbRPi2RatpGS003cOxxcYQsyjkiL"
        "BCC63UK3Cb0qXjcK3y40QblNdddgq8vsnxGda9LaRf3sELy3N5fxW4jPfTn0tCO3aG8lfr6/cDEx/8GeRSe9uRTZ8zWDHtWj7txmPLO9"
        "WrkL0yehbb8tUkHDcmN33B21BcsICxsVeskIy7NHcT1e0lcV+ia9BY4ghiOCRZu1jAot9sPPGscPVfJjVtEwSSMhGn1GDI/ZCS2evxCG"
        "hoaGhoaGhoZGnUG5R2nTPVj73QN7wP2vs0ylqH+T1C2GMEnXFH327UOG6iwu1JQ/G+BXni+1RhvvfyHjKPWexRhGJI6xmvOXPrhU+fOs"
        "2dD6e1Oo1v6LtcT5j/tfAQ1P3rA="
    )
)
"""The sheet "Old" of a file of Excel 97: Rent, 12.5, and below it 14:30, 30:00 and the same as a moment."""


@pytest.fixture
def reader() -> Reader:
    return Reader(most_chars=20_000, most_pages=20, seconds=240, readers=readers())


# spreadsheets


async def test_data_stay_under_their_tab_when_tabs_were_moved(reader: Reader, tmp_path: Path) -> None:
    moved = files.xlsx(['<c r="A1"><v>800</v></c>'], others={"Income": '<c r="A1"><v>3000</v></c>'})
    assert (await read(reader, tmp_path, moved)).text == "[Sheet Income]\n3000\n\n[Sheet Costs]\n800"


async def test_times_and_lengths_are_shown_as_spreadsheets_show_them(reader: Reader, tmp_path: Path) -> None:
    styles = (
        '<numFmts><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="20"/><xf numFmtId="164"/><xf numFmtId="22"/></cellXfs>'
    )
    cells = (("0.6041666666666666", 1), ("1.25", 2), ("46347.378472222226", 3), ("0.30000000000000004", 0), ("1E6", 0))
    row = "".join(f'<c s="{style}"><v>{value}</v></c>' for value, style in cells) + '<c t="b"><v>1</v></c>'
    found = await read(reader, tmp_path, files.xlsx([row], styles=styles))
    assert found.text == "[Sheet Costs]\n14:30\t30:00\t2026-11-21 09:05\t0.3\t1000000\tTRUE"


async def test_a_cell_with_lines_stays_in_its_row(reader: Reader, tmp_path: Path) -> None:
    row = '<c t="s"><v>0</v></c><c><v>1</v></c>'
    assert (await read(reader, tmp_path, files.xlsx([row], ["a\nb\tc"]))).text == "[Sheet Costs]\na / b c\t1"


async def test_old_excel_files_are_read(reader: Reader, tmp_path: Path) -> None:
    assert (
        await read(reader, tmp_path, _OLD_EXCEL)
    ).text == "[Sheet Old]\nRent\t12.5\n\t14:30\n\t30:00\n\t1900-01-01 06:00"
    assert "old Office" in await refused(reader, tmp_path, _OLD_EXCEL[:600])


async def test_a_damaged_file_that_calamine_panics_over_is_called_damaged(reader: Reader, tmp_path: Path) -> None:
    damaged = bytearray(_OLD_EXCEL)
    damaged[514] = 0  # the length of the workbook's first record
    assert "damaged" in await refused(reader, tmp_path, bytes(damaged))


def _cell(kind: str, said: str, text: str) -> str:
    name = "value" if kind == "float" else f"{kind}-value"
    value = f'office:value-type="{kind}" office:{name}="{said}"'
    return f"<table:table-cell {value}><text:p>{text}</text:p></table:table-cell>"


def _sheet(name: str, cells: str) -> str:
    return f'<table:table table:name="{name}"><table:table-row>{cells}</table:table-row></table:table>'


async def test_an_open_document_spreadsheet_with_its_tabs(reader: Reader, tmp_path: Path) -> None:
    cells = (
        _cell("float", "12.5", "12,50 €") + _cell("time", "PT14H30M00S", "14:30") + _cell("time", "PT30H00M00S", "30")
    )
    content = files.open_document(
        _sheet("Costs", cells) + _sheet("Days", _cell("date", "2026-11-21", "21.")), "spreadsheet"
    )
    assert (await read(reader, tmp_path, content)).text == (
        "[Sheet Costs]\n12.5\t14:30\t30:00\n\n[Sheet Days]\n2026-11-21"
    )


async def test_a_cell_far_below_is_left_out_and_that_is_said(reader: Reader, tmp_path: Path) -> None:
    rows = ['<row r="1"><c r="A1"><v>7</v></c></row>', '<row r="1048576"><c r="XFD1048576"><v>8</v></c></row>']
    found = await read(reader, tmp_path, files.xlsx(rows))
    assert found.text == "[Sheet Costs]\n7" and found.remark == "not all rows of its sheets are shown"


async def test_a_sheet_that_claims_more_cells_than_memory_holds_is_ended(reader: Reader, tmp_path: Path) -> None:
    rows = ['<row r="1"><c r="A1"><v>7</v></c></row>', '<row r="50000"><c r="XFD50000"><v>8</v></c></row>']
    assert await refused(reader, tmp_path, files.xlsx(rows)) == TOO_MUCH


async def test_a_sheet_with_a_bomb_or_entities_is_refused(reader: Reader, tmp_path: Path) -> None:
    blank = " " * 2**20
    assert "larger than 256 MB" in await refused(reader, tmp_path, files.xlsx(blank for _ in range(300)))
    with pytest.raises(Unreadable, match="entities"):
        body = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x/>'
        await read(reader, tmp_path, files.archive({"content.xml": body, "mimetype": _ODS}))


_ODS = "application/vnd.oasis.opendocument.spreadsheet"


async def test_a_locked_open_document_says_so(reader: Reader, tmp_path: Path) -> None:
    locked = files.archive({"content.xml": b"\1\2", "META-INF/manifest.xml": "<m><encryption-data/></m>"})
    assert "password" in await refused(reader, tmp_path, locked)


# Word


def _w(text: str, format: str = "") -> str:
    return f"<w:p><w:pPr>{format}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def _row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr>"


async def test_a_table_in_word_is_a_table(reader: Reader, tmp_path: Path) -> None:
    rows = _row(_w("Item"), _w("Sum"), _w("Note")) + _row(_w("Rent"), _w("800"), _w("cold") + _w("on the 3rd"))
    rows += _row('<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>' + _w("in all"), _w("a|b"))
    found = await read(reader, tmp_path, files.word(_w("Costs:") + f"<w:tbl>{rows}</w:tbl>" + _w("Bye")))
    assert found.text == (
        "Costs:\n\n| Item | Sum | Note |\n| --- | --- | --- |\n| Rent | 800 | cold / on the 3rd |\n"
        "| in all |  | a\\|b |\n\nBye"
    )


async def test_headings_and_lists_in_word_keep_their_marks(reader: Reader, tmp_path: Path) -> None:
    styles = (
        '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="Mine"><w:basedOn w:val="berschrift2"/></w:style>'
        '<w:style w:styleId="Points"><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
    )

    def level(at: int, kind: str, text: str) -> str:
        return f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'

    lists = (
        f'<w:abstractNum w:abstractNumId="7">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%1.%2)")}'
        f'</w:abstractNum><w:abstractNum w:abstractNumId="8">{level(0, "bullet", "x")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/>'
        "</w:lvlOverride></w:num>"
    )

    def item(text: str, of: int, at: int = 0) -> str:
        return _w(text, f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{of}"/></w:numPr>')

    body = _w("Terms", '<w:pStyle w:val="Mine"/>') + item("first", 1) + item("deep", 1, 1) + item("deeper", 1, 1)
    body += item("second", 1) + item("again", 1, 1) + item("fifth", 3) + _w("milk", '<w:pStyle w:val="Points"/>')
    assert (await read(reader, tmp_path, files.word(body, styles, lists))).text == (
        "## Terms\n1. first\n  1.a) deep\n  1.b) deeper\n2. second\n  2.a) again\n5. fifth\n- milk"
    )


async def test_what_was_deleted_moved_or_is_there_twice_is_shown_once(reader: Reader, tmp_path: Path) -> None:
    run = "<w:r><w:t>{}</w:t></w:r>".format
    body = f"<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom>{run('moved')}</w:moveFrom></w:p>"
    body += f'<w:p><x:a xmlns:x="x"><x:Choice>{run("box")}</x:Choice><x:Fallback>{run("box")}</x:Fallback></x:a></w:p>'
    assert (await read(reader, tmp_path, files.word(body + _w("moved")))).text == "box\nmoved"


async def test_tables_in_tables_without_end_are_read(reader: Reader, tmp_path: Path) -> None:
    depth = 20_000
    start, end = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
    assert (await read(reader, tmp_path, files.word(start * depth + _w("deep") + end * depth))).text == "deep"


# slides


def _shape(place: str, *paragraphs: str) -> str:
    texts = "".join(f"<a:p>{text}</a:p>" for text in paragraphs)
    return f"<p:sp><p:nvPr>{place}</p:nvPr><p:txBody>{texts}</p:txBody></p:sp>"


def _a(text: str, format: str = "") -> str:
    return f"{format}<a:r><a:t>{text}</a:t></a:r>"


async def test_slides_in_their_order_with_titles_lists_tables_and_notes(reader: Reader, tmp_path: Path) -> None:
    first = _shape('<p:ph type="title"/>', _a("Plan")) + _shape(
        '<p:ph idx="1"/>', _a("tea"), _a("hot", '<a:pPr lvl="1"/>'), _a("words", "<a:pPr><a:buNone/></a:pPr>")
    )
    number = "<a:pPr><a:buAutoNum/></a:pPr>"
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>".format
    table = "".join(f"<a:tr>{cell(a)}{cell(b)}</a:tr>" for a, b in (("Item", "Sum"), ("Rent", "800")))
    second = _shape("", _a("one", number), _a("two", number)) + f"<a:tbl>{table}</a:tbl>"
    notes = _shape('<p:ph type="body"/>', _a("Smile.")) + _shape('<p:ph type="sldNum"/>', _a("1"))
    content = files.presentation([first, second], order=(2, 1), notes={1: notes})
    assert (await read(reader, tmp_path, content)).text == (
        "[Slide 1]\n1. one\n2. two\n\n| Item | Sum |\n| --- | --- |\n| Rent | 800 |\n\n"
        "[Slide 2]\n# Plan\n- tea\n  - hot\nwords\n\nNotes: Smile."
    )


# OpenDocument


async def test_an_open_document_with_headings_lists_and_a_table(reader: Reader, tmp_path: Path) -> None:
    level = '<text:list-level-style-number text:level="1" style:num-format="1"/>'
    styles = f'<text:list-style style:name="L">{level}</text:list-style>'
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="2">Terms</text:h>'
        '<text:list text:style-name="L"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep'
        "</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p></text:list-item>"
        "</text:list><table:table><table:table-row><table:table-cell><text:p>a</text:p><text:p>b</text:p>"
        "</table:table-cell><table:table-cell><text:p>c<text:s text:c='2'/>d</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    assert (await read(reader, tmp_path, files.open_document(body, styles=styles))).text == (
        "## Terms\n1. one\n  - deep\n2. two\n\n| a / b | c  d |\n| --- | --- |"
    )


async def test_slides_of_open_document_with_notes(reader: Reader, tmp_path: Path) -> None:
    notes = "<presentation:notes><text:p>{}</text:p></presentation:notes>"
    page = f'<draw:page draw:master-page-name="m"><text:p>{{}}</text:p>{notes}</draw:page>'
    body = page.format("Plan", "Smile.") + page.format("End", "Bow.")
    assert (await read(reader, tmp_path, files.open_document(body, "presentation"))).text == (
        "[Slide 1]\nPlan\n\nNotes:\nSmile.\n\n[Slide 2]\nEnd\n\nNotes:\nBow."
    )


# all of them


async def test_office_documents(reader: Reader, tmp_path: Path) -> None:
    assert (
        await read(reader, tmp_path, files.docx("Dear Alice,", "see you &amp; Bob"))
    ).text == "Dear Alice,\nsee you & Bob"
    assert (await read(reader, tmp_path, files.pptx("Plan", "Costs"))).text == "[Slide 1]\nPlan\n\n[Slide 2]\nCosts"
    open_document = files.open_document("<text:p>Guten Tag</text:p>")
    assert (await read(reader, tmp_path, open_document)).text == "Guten Tag"


async def test_a_sheet_with_shared_texts_gaps_and_days(reader: Reader, tmp_path: Path) -> None:
    row = '<c r="A1" t="s"><v>0</v></c><c r="C1"><v>12.5</v></c><c r="D1" s="1"><v>46347</v></c>'
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    found = await read(reader, tmp_path, files.xlsx([row], ["Rent"], styles))
    assert found.text == "[Sheet Costs]\nRent\t\t12.5\t2026-11-21"


@pytest.mark.full
async def test_a_sheet_of_a_million_rows_is_read_as_far_as_allowed(reader: Reader, tmp_path: Path) -> None:
    found = await read(reader, tmp_path, files.xlsx("<c><v>7</v></c>" for _ in range(1_000_000)))
    assert found.text.count("7") > 5_000
    assert found.remark == "only its first 20,000 characters are shown"


async def test_bombs_do_not_go_off(reader: Reader, tmp_path: Path) -> None:
    assert "larger than 256 MB" in await refused(reader, tmp_path, files.bomb(300))
    entities = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    assert "entities" in await refused(reader, tmp_path, files.docx("&b;", head=entities))


async def test_an_archive_and_a_damaged_document_say_so(reader: Reader, tmp_path: Path) -> None:
    assert "ZIP archive" in await refused(reader, tmp_path, files.archive({"a.txt": "a"}))
    assert "damaged" in await refused(reader, tmp_path, files.docx("Dear Alice")[:-30])
    assert "damaged" in await refused(reader, tmp_path, files.archive({"word/document.xml": "<w:p>"}))
