"""What is read of files as people send them, and what is said of those that nobody should."""

from __future__ import annotations

import asyncio
import io
import json
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Collection
from email.message import EmailMessage
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from PIL import Image

from agent.media.pictures import LONGEST_SIDE, MOST_BYTES
from agent.media.reader import Reader, Reading, ended
from agent.media.sniff import HEAD, TOO_MUCH, Kind, Unreadable, sniffed
from tests import files
from tests.agent.long_conversation import LoopClock


@pytest.fixture
def reader() -> Reader:
    return Reader(most_chars=20_000, most_pages=20, seconds=240)


async def read(reader: Reader, folder: Path, content: bytes, name: str = "") -> Reading:
    file = folder / "file"
    file.write_bytes(content)
    return await reader.text(file, sniffed(content[:HEAD], name)[0])


async def refused(reader: Reader, folder: Path, content: bytes) -> str:
    with pytest.raises(Unreadable) as why:
        await read(reader, folder, content)
    return str(why.value)


def hide(monkeypatch: pytest.MonkeyPatch, folder: Path, library: str, body: str = "raise ImportError") -> None:
    """The reading process has no such library, or this one in its place."""
    (folder / f"{library}.py").write_text(body)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *sys.path]))


async def seen(reader: Reader, folder: Path, content: bytes) -> Image.Image:
    file, target = folder / "file", folder / "target"
    file.write_bytes(content)
    ending = await reader.picture(file, target)
    assert target.stat().st_size <= MOST_BYTES
    picture = Image.open(target)
    assert picture.format == {"jpg": "JPEG", "png": "PNG"}[ending]
    return picture


# documents


async def test_a_pdf_page_by_page(reader: Reader, tmp_path: Path) -> None:
    found = await read(
        reader, tmp_path, files.pdf(["The rent is due on the 3rd of May", "And the deposit is two months"])
    )
    assert found == Reading(
        "[Page 1 of 2]\nThe rent is due on the 3rd of May\n\n[Page 2 of 2]\nAnd the deposit is two months"
    )


async def test_text_of_signs_that_take_most_room_is_read_whole(reader: Reader, tmp_path: Path) -> None:
    text = "😀" * 15_000
    assert await read(reader, tmp_path, text.encode()) == Reading(text)


async def test_a_pdf_of_10000_pages_is_read_as_far_as_allowed(reader: Reader, tmp_path: Path) -> None:
    found = await read(reader, tmp_path, files.pdf(f"This is what stands on page {at}" for at in range(10_000)))
    assert "stands on page 19" in found.text and "page 20\n" not in found.text
    assert found.remark == "only the first 20 of its 10,000 pages are shown"


async def test_a_pdf_that_is_locked_scanned_or_broken_says_so(reader: Reader, tmp_path: Path) -> None:
    assert "password" in await refused(reader, tmp_path, files.locked_pdf())
    assert "photos" in await refused(reader, tmp_path, files.pdf(["", ""]))
    assert "damaged" in await refused(reader, tmp_path, b"%PDF-1.7\n" + bytes(range(256)))


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
async def test_a_pdf_that_anybody_may_read_is_read_however_it_is_encrypted(
    reader: Reader, tmp_path: Path, algorithm: str
) -> None:
    assert "for those who know" in (await read(reader, tmp_path, files.locked_pdf("", algorithm))).text
    assert "password" in await refused(reader, tmp_path, files.locked_pdf("secret", algorithm))


@pytest.mark.full
async def test_a_pdf_that_wants_more_room_than_there_is_is_not_called_damaged(reader: Reader, tmp_path: Path) -> None:
    assert await refused(reader, tmp_path, files.packed_pdf(80)) == TOO_MUCH


async def test_a_pdf_with_deep_lists_is_read(reader: Reader, tmp_path: Path) -> None:
    assert "stands on the first page" in (await read(reader, tmp_path, files.nested_pdf(2_000))).text


async def test_a_web_page_without_its_scripts(reader: Reader, tmp_path: Path) -> None:
    page = b"<!doctype html><title>News</title><script>steal()</script><p>It <b>rains</b>.<ul><li>a<li>b</ul>"
    assert (await read(reader, tmp_path, page)).text == "News\n\nIt rains.\n\n- a\n- b"


async def test_an_email_with_what_is_attached_to_it(reader: Reader, tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "Größe"
    mail["Date"] = "Sat, 21 Nov 2026 08:30:00 +0100"
    mail.set_content("Hello Bob\n")
    mail.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="bill.pdf")
    found = (await read(reader, tmp_path, mail.as_bytes(), "mail.eml")).text
    assert found.startswith("From: a@example.org\nTo: b@example.org\n")
    assert "Subject: Größe\n\nHello Bob" in found
    assert found.endswith("Attached to this e-mail, not opened: bill.pdf")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Grüße 猫".encode(), "Grüße 猫"),
        ("Grüße".encode("cp1252"), "Grüße"),
        ("Grüße 猫".encode("utf-16"), "Grüße 猫"),
        (b"a lot of words, then a\0 NUL", "a lot of words, then a\0 NUL"),
        (b'{"key": [1, 2]}', '{"key": [1, 2]}'),
        (b"<?xml version='1.0'?><a>b</a>", "<?xml version='1.0'?><a>b</a>"),
    ],
)
async def test_text_of_any_encoding(reader: Reader, tmp_path: Path, content: bytes, text: str) -> None:
    assert await read(reader, tmp_path, content) == Reading(text)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b" \n \n", "no text"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "PNG"),
        (b"\0\0\0\x18ftypisom" + bytes(20), "videos"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office"),
        (bytes(range(256)), "don't know"),
    ],
)
async def test_what_cannot_be_read_says_what_to_do(reader: Reader, tmp_path: Path, content: bytes, why: str) -> None:
    assert why in await refused(reader, tmp_path, content)


@pytest.mark.skipif(sys.platform != "linux", reason="nothing else tells how much a process has written")
async def test_what_takes_too_long_is_ended_with_what_was_read(
    reader: Reader, tmp_path: Path, loop_clock: LoopClock
) -> None:
    first = "This stands on the first page. " * 100
    await read(reader, tmp_path, files.pdf([first]))  # and whatever Python writes when it first imports is written
    endless = "x) Tj (" * 900_000  # two seconds each, and half of the memory that it may have
    others = psutil.Process().children()
    reading = asyncio.create_task(read(Reader(10**7, 10, seconds=5), tmp_path, files.pdf([first, *[endless] * 4])))
    while written_by_children(others) < len(first) and not reading.done():
        await asyncio.to_thread(time.sleep, 0.02)  # a sleep of the loop would have no end
    await loop_clock.pass_(0)
    assert not reading.done()
    await loop_clock.pass_(5.01)
    assert await reading == Reading(f"[Page 1 of 5]\n{first}".strip(), TOO_MUCH)


def written_by_children(besides: Collection[psutil.Process]) -> int:
    """Bytes. `besides`: other children, as servers for other tests."""
    children = [child for child in psutil.Process().children() if child not in besides]
    return sum(child.io_counters().write_chars for child in children)


async def test_whoever_stops_waiting_ends_the_process(tmp_path: Path, reader: Reader) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = asyncio.create_task(reader.text(pipe, Kind.TEXT))
    with await asyncio.to_thread(pipe.open, "wb", buffering=0) as writer:  # until the process has opened it too
        writer.write(b"the beginning")
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        with pytest.raises(BrokenPipeError):
            writer.write(b"nobody is there to read this")


# pictures


async def test_a_picture_is_scaled_turned_upright_and_shown_on_white(reader: Reader, tmp_path: Path) -> None:
    assert (await seen(reader, tmp_path, files.picture(4_000, 1_000, "JPEG"))).size == (LONGEST_SIDE, LONGEST_SIDE // 4)
    assert (await seen(reader, tmp_path, files.picture(60, 40, "JPEG", orientation=6))).size == (40, 60)
    clear = io.BytesIO()
    Image.new("RGBA", (5, 5), (255, 0, 0, 0)).save(clear, "PNG")
    assert (await seen(reader, tmp_path, clear.getvalue())).getpixel((2, 2)) == (255, 255, 255)


@pytest.mark.parametrize(("mode", "grey"), [("I;16", 65_535 // 2), ("I", 500), ("F", 0.5)])
async def test_grey_of_many_bits_is_not_shown_white(reader: Reader, tmp_path: Path, mode: str, grey: float) -> None:
    scan, out = Image.new(mode, (40, 20), grey), io.BytesIO()
    scan.paste(0, (0, 0, 10, 20))
    scan.paste(2 * grey, (30, 0, 40, 20))
    scan.save(out, "TIFF")
    shown = await seen(reader, tmp_path, out.getvalue())
    for x, expected in ((4, 0), (20, 127), (36, 255)):
        pixel = shown.getpixel((x, 10))
        assert isinstance(pixel, tuple) and abs(pixel[0] - expected) < 6


async def test_a_picture_of_an_iphone(reader: Reader, tmp_path: Path) -> None:
    shown = await seen(reader, tmp_path, files.heic(2_000, 1_500, "blue"))
    pixel = shown.getpixel((5, 5))
    assert shown.format == "JPEG" and shown.size == (LONGEST_SIDE, 1_176)
    assert isinstance(pixel, tuple) and pixel[2] > 240 and pixel[0] < 20


async def test_where_heic_cannot_be_opened_the_missing_library_is_named(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, tmp_path, "pillow_heif")
    with pytest.raises(Unreadable, match=r"pip install pillow-heif.*JPEG"):
        await seen(reader, tmp_path, files.heic())


@pytest.mark.skipif(sys.platform != "linux", reason="nothing else limits a process's memory")
async def test_a_picture_of_an_iphone_that_wants_more_room_than_there_is_is_not_called_damaged(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(files.LARGE_HEIC)
    reading = (sys.executable, "-P", "-m", "agent.media.reading", Kind.PICTURE, str(file), f"{file}.jpg", "1", "1", "")
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", 'ulimit -v 250000; exec "$@"', "-", *reading),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    told, _ = await process.communicate()
    assert json.loads(told.splitlines()[-1])["end"] == TOO_MUCH


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limits end it")
async def test_a_reading_process_ends_with_a_gateway_that_is_killed(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    life = (
        "import asyncio, sys; from pathlib import Path; from agent.media.reader import Kind, Reader\n"
        "asyncio.run(Reader(100, 1, seconds=240).text(Path(sys.argv[1]), Kind.TEXT))"
    )
    gateway = await asyncio.create_subprocess_exec(sys.executable, "-c", life, str(pipe))
    try:
        async with asyncio.timeout(120):
            with await asyncio.to_thread(pipe.open, "wb", buffering=0) as writer:
                gateway.kill()
                await gateway.wait()
                nobody_reads = select.poll()
                nobody_reads.register(writer, 0)
                assert await asyncio.to_thread(nobody_reads.poll, 120_000)
    finally:
        if gateway.returncode is None:
            gateway.kill()
            await gateway.wait()


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
async def test_of_an_animated_picture_the_first_frame(reader: Reader, tmp_path: Path, kind: str) -> None:
    pixel = (await seen(reader, tmp_path, files.animated(kind))).getpixel((5, 5))
    assert isinstance(pixel, tuple) and pixel[0] > 240 and pixel[1] < 20


async def test_noise_is_made_small_enough(reader: Reader, tmp_path: Path) -> None:
    noise = io.BytesIO()
    Image.effect_noise((2_000, 2_000), 200).save(noise, "PNG")
    await seen(reader, tmp_path, noise.getvalue())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (files.huge_png(), "30,000 x 30,000 pixels"),
        (files.picture(400, 400, "JPEG")[:-200], "damaged"),
        (files.picture()[:60], "damaged"),
        (b"\xff\xd8\xff" + bytes(100), "damaged"),
        (b"\0\0\0\x18ftypheic" + bytes(20), "damaged"),
        (files.heic(400, 400)[:-50], "damaged"),
    ],
)
async def test_a_picture_that_cannot_be_opened_says_why(
    reader: Reader, tmp_path: Path, content: bytes, why: str
) -> None:
    with pytest.raises(Unreadable, match=why):
        await seen(reader, tmp_path, content)


def test_a_kind_is_told_by_bytes_and_not_by_name() -> None:
    assert sniffed(files.picture(), "report.pdf", "application/pdf") == (Kind.PICTURE, "png")
    assert sniffed(files.OGG, "voice.txt") == (Kind.AUDIO, "ogg")
    assert sniffed(b"%PDF-1.4", "../../etc/passwd") == (Kind.PDF, "pdf")
    assert sniffed(b"BMW is a maker of cars") == (Kind.TEXT, "txt")


def test_a_film_without_pictures_is_a_recording() -> None:
    film, web = b"\0\0\0\x18ftypmp42" + bytes(40), b"\x1aE\xdf\xa3" + bytes(40)
    assert sniffed(film, "recording.M4A") == sniffed(film, "", "audio/mp4") == (Kind.AUDIO, "m4a")
    assert sniffed(web, "", "audio/webm;codecs=opus") == (Kind.AUDIO, "webm")
    assert sniffed(film, "film.mp4", "video/mp4") == (Kind.VIDEO, "mp4")
    assert sniffed(web, "film.webm") == (Kind.VIDEO, "webm")
    assert sniffed(files.picture(), "recording.m4a", "audio/mp4") == (Kind.PICTURE, "png")


SPY = """
import ctypes, os, socket, sys, threading
from pathlib import Path
from agent.media.confine import confine
file, target, secret = map(Path, sys.argv[1:])
target.touch()
confine(file, target)

def thread():
    one = threading.Thread(target=print, args=("a thread of its own",))
    one.start()
    one.join()

def call(intel, arm, *arguments):
    number = intel if os.uname().machine == "x86_64" else arm
    if ctypes.CDLL(None, use_errno=True).syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")

def connect(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)

for what, work in (
    ("its file", lambda: file.read_text()),
    ("its target", lambda: target.write_text("x")),
    ("its libraries", lambda: Path(os.__file__).read_bytes()),
    ("threads", thread),
    ("another file", lambda: secret.read_text()),
    ("a new file", lambda: secret.with_name("new").write_text("x")),
    ("another folder", lambda: list(secret.parent.iterdir())),
    ("users", lambda: Path("/etc/passwd").read_text()),
    ("a program", lambda: os.execv("/bin/true", ["true"])),
    ("a process", lambda: os.fork() or os._exit(0)),
    ("a process by its call", lambda: call(56, 220, 17, 0, 0, 0, 0)),
    ("a signal for its parent", lambda: os.kill(os.getppid(), 0)),
    ("limits of its parent", lambda: call(302, 261, os.getppid(), 7, 0, 0)),
    ("rights of another file", lambda: os.chmod(secret, 0o777)),
    ("the time of another file", lambda: os.utime(secret)),
    ("the network", lambda: socket.create_connection(("127.0.0.1", int(secret.name)), 5)),
    ("a socket on disk", lambda: connect(str(secret.with_name("socket")))),
    ("rings", lambda: call(425, 425, 1, ctypes.create_string_buffer(120))),
):
    try:
        work()
        print(what, flush=True)
    except OSError:
        pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's")
async def test_the_reading_process_sees_its_file_alone(tmp_path: Path) -> None:
    def refuse(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    with tempfile.TemporaryDirectory() as short:  # the path of a socket has a limit
        async with (
            await asyncio.start_server(refuse, "127.0.0.1", 0) as server,
            await asyncio.start_unix_server(refuse, f"{short}/socket"),
        ):
            secret = Path(short) / str(server.sockets[0].getsockname()[1])
            for one in (tmp_path / "file", secret):
                one.write_text("x")
            command = (sys.executable, "-P", "-c", SPY, str(tmp_path / "file"), str(tmp_path / "target"), str(secret))
            process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
            told, _ = await process.communicate()
    assert told.decode().split("\n") == [
        "its file",
        "its target",
        "its libraries",
        "a thread of its own",
        "threads",
        "",
    ]


# a reading process that a file has taken over, here by a library of the same name

BEGINS_AGAIN_AND_AGAIN = "import time\nwhile True:\n  print('{\"begun\": true}', flush=True)\n  time.sleep(0.1)"
SAYS_TOO_MUCH = "while True: print('{\"text\": \"' + 'x' * 5000 + '\"}', flush=True)"


@pytest.mark.parametrize("body", [BEGINS_AGAIN_AND_AGAIN, SAYS_TOO_MUCH, "print('5')", "print('{\"text\": 5}')"])
async def test_one_that_was_taken_over_gets_neither_more_time_nor_more_room(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    hide(monkeypatch, tmp_path, "pypdfium2", f"import os\n{body}\nos._exit(0)")
    async with asyncio.timeout(60):
        try:
            found = await read(reader, tmp_path, files.pdf(["tea"]))
        except Unreadable:
            return
    assert len(found.text) == 20_000 and found.remark == TOO_MUCH


async def test_one_that_is_ended_with_more_to_say_keeps_no_place(tmp_path: Path) -> None:
    """More than a pipe takes: what is left in it must not be waited for."""
    said = tmp_path / "said"
    body = (
        f"import pathlib, time\nprint('x' * 220_000, flush=True)\npathlib.Path({str(said)!r}).touch()\ntime.sleep(600)"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", body), stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    async with asyncio.timeout(60):
        while not said.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await ended(process)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("ending", ["png/../../AGENTS.md", "", "exe"])
async def test_one_that_was_taken_over_names_no_file(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    said = json.dumps({"end": "", "ending": ending})
    hide(monkeypatch, tmp_path, "PIL", f"import os\nprint({said!r}, flush=True)\nos._exit(0)")
    with pytest.raises(Unreadable):
        await seen(reader, tmp_path, files.picture())


async def test_one_that_was_taken_over_fills_no_disk(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import sys\nwith open(sys.argv[3], 'wb') as file:\n  for _ in range(200): file.write(bytes(1 << 20))"
    hide(monkeypatch, tmp_path, "PIL", f'import os\n{body}\nprint(\'{{"end":"","ending":"png"}}\')\nos._exit(0)')
    with pytest.raises(Unreadable):
        await seen(reader, tmp_path, files.picture())
