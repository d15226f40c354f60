"""`daybook init`: the set-up questions, each answer checked as it is given."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click

from agent.languages.sentences import Sentence, said, translated
from channels.checks import CheckResult
from channels.manifest import ChannelManifest
from channels.registry import MANIFESTS
from gateway.cli.embedder import fetch_into
from gateway.cli.zone import ask_zone
from gateway.config import Config, ConfigError
from gateway.config.edit import is_zone_chosen
from gateway.embedder.build import is_there
from gateway.embedder.offer import LATER, decline, offer_of
from gateway.home import HomeError
from gateway.setup.answers import Answers, present, problem_with, with_answers, write
from gateway.setup.model import ModelCheck, check_model
from gateway.terminal.confirm import is_confirmed
from gateway.terminal.context import CliContext, CommandFailed, Misconfigured, terminal_language, typed

_NONE = "-"
"""Typed to remove a value."""


_QUESTIONS = [question for manifest in MANIFESTS.values() for question in manifest.questions]


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds an option for each question of a channel."""
    for question in reversed(_QUESTIONS):
        command = click.option(f"--{question.answer.replace('_', '-')}", help=question.option)(command)
    return command


@click.command("init")
@click.option("--name", help="What Daybook should call you.")
@click.option("--timezone", help="Your IANA time zone, such as Europe/Berlin.")
@click.option("--model-key", help="Anthropic API key; empty for the offline assistant.")
@click.option("--model-url", help="Another server that speaks the Anthropic Messages API.")
@click.option("--model-name", help="Which of the server's models answers.")
@_with_options
@click.option("--summary", help='Time of the daily summary, such as 21:00, or "off".')
@click.option(
    "--embedder/--no-embedder", "wants_embedder", default=None, help="Download a model for search by meaning."
)
@click.option("--yes", is_flag=True, help="Don't ask and don't check; keep what is set for everything not given.")
@click.pass_obj
def init_command(context: CliContext, /, yes: bool, wants_embedder: bool | None, **given: str | None) -> None:
    """Set up Daybook. Each question can also be answered by an option.

    Run it again to change an answer: what is set is the default then, and the rest of your files stays.
    """
    home = context.home
    answers: Answers = {name: text.strip() for name, text in given.items() if text is not None}
    for name, text in answers.items():
        if text and (problem := problem_with(name, text)):
            raise click.UsageError(f"--{name.replace('_', '-')}: {_problem(name, problem)}")
    with _readable_errors(home.path):
        is_new = not home.config_file.exists()
        before = context.config()
        if not yes:
            answers = _Questions(answers, present(home, before), before, is_zone_chosen(home, before)).asked()
        config = write(home, answers, os.environ)
    _offer_embedder(context, config, wants_embedder, asks=not yes and is_new)
    chat, run = typed(home, "chat"), typed(home, "gateway")
    click.echo(
        context.said(
            "Daybook is set up in {home}. Try `{chat}`, or start it for all channels with `{run}`.",
            home=home.path,
            chat=chat,
            run=run,
        )
    )
    if any(channel.secret for channel in config.channels.platforms.values()) and not config.owners:
        approve = typed(home, "pair", "approve", "CODE")
        click.echo(
            context.said(
                "Then write to your bot. It replies with a code, and `{approve}` makes you its owner.", approve=approve
            )
        )


def _offer_embedder(context: CliContext, config: Config, wants_one: bool | None, *, asks: bool) -> None:
    """Offers search by meaning. A failed download is only reported."""
    question = offer_of(context.home, config)
    if wants_one is None and asks and question:
        try:
            wants_one = is_confirmed(str(translated(context.language, question)), default=False)
        except click.Abort:  # all else is set up, and whoever pipes answers in may not expect this question
            return
    if wants_one is False:
        with _readable_errors(context.home.path):
            decline(context.home)
        click.echo(context.said("Memory is searched by words. {later}", later=LATER))
    if wants_one and not is_there(context.home):
        try:
            fetch_into(context)
        except CommandFailed as problem:
            click.echo(context.said("Memory is searched by words only. {why}", why=problem.message), err=True)


@dataclass(frozen=True, slots=True)
class _Questions:
    """Asks the questions of the set-up. `given` is not asked; `now` has the defaults, with secrets as `***`."""

    given: Answers
    now: Answers
    config: Config
    is_zone_chosen: bool

    def asked(self) -> Answers:
        """The answers that change something."""
        found = {"name": self._ask("name", Sentence("What should I call you?")), "timezone": self._zone()}
        found |= self._model()
        for manifest in MANIFESTS.values():
            found |= self._channel(manifest)
        found["summary"] = self._ask("summary", Sentence('Daily summary at (or "off")'))
        return {name: text for name, text in found.items() if text is not None}

    def _channel(self, manifest: ChannelManifest) -> dict[str, str | None]:
        """Asks in order; the platform is asked whether a secret is right, with the answers before it."""
        settings, found = self.config.channels.platforms[manifest.name], dict[str, str | None]()

        def check(name: str, text: str) -> CheckResult:
            known = {answer: given for answer, given in found.items() if given is not None}
            return _with_invitation(with_answers(settings, manifest, {**known, name: text}).probe())

        for question in manifest.questions:
            name = question.answer
            probe = partial(check, name) if name in manifest.secrets else None
            found[name] = self._ask(name, question.asked, question.without, probe)
        return found

    def _zone(self) -> str | None:
        """Asks in words that people know, unless a zone is chosen already or nobody sits at a terminal."""
        is_new = "timezone" not in self.given and not self.is_zone_chosen
        return ask_zone() if is_new and sys.stdin.isatty() else self._ask("timezone", Sentence("Your time zone"))

    def _model(self) -> dict[str, str | None]:
        """Asks for key and address until the server takes them, then for a model that it has."""
        url: str | None = None
        own = self.config.model.server()
        while True:
            key = self._ask("model_key", Sentence("Anthropic API key"), Sentence("the offline assistant"))
            again = replace(self, now={**self.now, "model_url": url}) if url else self
            answer = again._ask(  # noqa: SLF001
                "model_url", Sentence("Address of the model server (leave empty for Anthropic's)")
            )
            url = url if answer is None else answer
            name = self.given.get("model_name")
            found = {"model_key": key, "model_url": url, "model_name": name}
            address = own.base_url if url is None else url or None
            kept = own.api_key if address == own.base_url else None
            provider = "openai" if self.config.model.provider == "openai" and address == own.base_url else "anthropic"
            secret = (kept.get_secret_value() if kept else "") if key is None else key
            if not secret and not address:
                return found
            checked = check_model(provider, secret, address, name or self.config.model.name, asks=True)
            if not checked.ok and checked.models and not name:
                found["model_name"] = name = _choose(checked)
                checked = check_model(provider, secret, address, name, asks=True)
            if checked.ok and checked.provider != self.config.model.provider:
                found["model_provider"] = checked.provider
            _say(checked)
            if checked.answer:
                click.echo(f"     {said(terminal_language(), 'It says: {answer}', answer=checked.answer)}")
            if checked.ok or not checked.refused or self.given.get("model_key") or self.given.get("model_url"):
                return found

    def _ask(
        self, name: str, question: str, without: str = "", check: Callable[[str], CheckResult] | None = None
    ) -> str | None:
        """Asks until the answer is valid and not refused; None where the present value stays."""
        given, now = self.given.get(name), self.now[name]
        if given is not None:
            if check and given:
                _say(check(given))
            return given
        is_secret = bool(without)
        if is_secret:
            question = (
                Sentence("{question} (leave empty to keep yours, - for {without})", question=question, without=without)
                if now
                else Sentence("{question} (leave empty for {without})", question=question, without=without)
            )
        asked = str(translated(terminal_language(), question))

        def accepted(text: str) -> str:
            text = text.strip()
            if text in ("", _NONE) or text == now:
                return text
            if problem := problem_with(name, text):
                raise click.UsageError(_problem(name, problem))
            checked = check(text) if check else None
            if checked is not None and not checked.ok and checked.refused:
                raise click.UsageError(checked.said(terminal_language()))
            if checked is not None:
                _say(checked)
            return text

        shown = "" if is_secret else now
        answer = str(
            click.prompt(
                asked,
                shown,
                prompt_suffix=" " if asked.endswith(("?", "？")) and not shown else ": ",
                show_default=bool(shown),
                hide_input=is_secret and sys.stdin.isatty(),  # piped input is not echoed
                value_proc=accepted,
            )
        )
        if answer == _NONE:
            return ""
        return None if answer == shown else answer


_EXPECTED: Mapping[str, str] = {
    "timezone": Sentence("I don't know this time zone. Write it like Europe/Berlin."),
    **{question.answer: question.wanted for question in _QUESTIONS if question.wanted},
    "summary": Sentence('Write a time such as 21:00, or "off".'),
    "model_url": Sentence("An address begins with https:// or http://."),
}


def _problem(field: str, problem: str) -> str:
    return str(translated(terminal_language(), _EXPECTED.get(field, problem)))


def _choose(checked: ModelCheck) -> str:
    language = terminal_language()
    click.echo(said(language, "The server has these models:"))
    for number, name in enumerate(checked.models, start=1):
        click.echo(f"  {number}. {name}")

    def accepted(text: str) -> str:
        text = text.strip()
        if text.isdecimal() and 1 <= int(text) <= len(checked.models):
            return checked.models[int(text) - 1]
        if text in checked.models:
            return text
        count = len(checked.models)
        raise click.UsageError(said(language, "type a number from 1 to {count}, or one of the names", count=count))

    return str(click.prompt(said(language, "Which one should answer?"), "1", value_proc=accepted))


def _say(checked: CheckResult) -> None:
    click.echo(f"{'ok' if checked.ok else '!!'}   {checked.said(terminal_language())}")


def _with_invitation(checked: CheckResult) -> CheckResult:
    if checked.invite:
        invitation = said(terminal_language(), "Invite it to your server: {link}", link=checked.invite)
        click.echo(f"     {invitation}")
    return checked


@contextlib.contextmanager
def _readable_errors(home: Path) -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise Misconfigured(str(error)) from error
    except HomeError as error:
        raise CommandFailed(str(error)) from error
    except OSError as error:
        where = os.fspath(error.filename) if error.filename else str(home)
        raise CommandFailed(
            Sentence(
                "Can't write {where}: {why}. `daybook doctor` shows what is wrong.",
                where=where,
                why=error.strerror or str(error),
            )
        ) from error
