// The set-up's cards: each is checked while one types, and written and used with one press.

import {make} from '/static/dom.js';
import {t} from '/static/texts.js';

const SETTLED = 600, LOOK = 1500, RESTARTED_WITHIN = 90000;
const SKIPPED = 'daybook-skipped';
const SENTENCES = {
  model: {
    malformed: () => t('This can’t be right. A key has no spaces, and an address begins with http:// or https://.'),
    refused: () => t('The server doesn’t accept this key. Create a new one and paste it here.'),
    no_such_model: () => t('The server is there. Choose which of its models answers.'),
    unreachable: () => t('I can’t reach the server. Is the address right, and are you online?'),
    fine: ({answer}) => (answer ? t('It works. The model says: “{answer}”', {answer}) : t('It works.')),
  },
  person: {
    malformed: () => t('I don’t know this time zone. They look like Europe/Berlin.'),
    fine: (_, {timezone}) => t('It is {time} there now.', {time: new Date().toLocaleTimeString([], {timeZone: timezone, hour: '2-digit', minute: '2-digit'})}),
  },
};
const COMMON = {
  unreachable: () => t('I can’t reach the server. Are you online?'),
  busy: () => t('The server doesn’t answer properly now. Try again in a few minutes.'),
};
const pause = (time) => new Promise((resolve) => { setTimeout(resolve, time); });

export async function restart(page) {   // returns once the new start answers
  const {started} = await page.call('gateway.restart');
  for (const until = Date.now() + RESTARTED_WITHIN; Date.now() < until;) {
    await pause(300);
    try { if ((await page.call('gateway.started')).started !== started) return; } catch { /* it is starting */ }
  }
  throw new Error(t('Daybook isn’t answering. Is it running?'));
}

function skipped() { try { return JSON.parse(localStorage.getItem(SKIPPED)) ?? []; } catch { return []; } }

export function mount(root, page) {
  const cards = [...root.querySelectorAll('.setup')], ends = [];
  for (const card of cards) {
    const isLeft = card.dataset.ready !== 'true' && !skipped().includes(card.dataset.part);
    card.hidden = Boolean(page.isFirstVisit) && !isLeft;
    const skip = card.querySelector('.skip');
    skip.hidden = !page.isFirstVisit;
    skip.onclick = () => {
      try { localStorage.setItem(SKIPPED, JSON.stringify([...skipped(), card.dataset.part])); } catch { /* for now */ }
      card.hidden = true;
      (cards.find((one) => !one.hidden)?.querySelector('summary') ?? document.querySelector('#text')).focus();
    };
    ends.push(card.dataset.part === 'search' ? search(card, page) : form(card, page));
    const open = page.opened === card.dataset.part;
    if (open) card.open = true;
    card.addEventListener('toggle', () => { if (card.open) card.scrollIntoView({block: 'nearest'}); });
  }
  const zones = root.querySelector('#zones');
  if (zones && Intl.supportedValuesOf) zones.append(...Intl.supportedValuesOf('timeZone').map((value) => make('option', {value})));
  return () => ends.forEach((end) => end());
}

function form(card, page) {
  const part = card.dataset.part, fields = card.querySelector('form').elements, line = card.querySelector('.checked');
  const save = card.querySelector('button.main'), isReady = card.dataset.ready === 'true';
  let timer = 0, asked = 0, found = null;

  const given = () => Object.fromEntries([...card.querySelectorAll('input, select')]
    .filter((field) => field.type !== 'password' || field.value.trim()).map((field) => [field.name, field.value.trim()]));
  const parameters = () => {
    const values = given();
    if (part === 'person') values.summary ||= 'off';
    return {part, ...values};
  };
  const isAsked = () => part === 'person' || isReady || Object.entries(given()).some(([name, value]) => value && name !== 'model_name');

  function say(text, kind = '') { line.textContent = text; line.className = `checked ${kind}`; }

  async function check() {
    clearTimeout(timer);
    const mine = ++asked;
    if (!isAsked()) { say(''); return null; }
    say(t('Checking…'));
    let result;
    try { result = await page.call('setup.check', parameters()); } catch (problem) {
      if (mine === asked) say(problem.message || t('Daybook is offline'), 'bad');
      return null;
    }
    if (mine !== asked) return null;   // something else was typed meanwhile
    found = result;
    const known = SENTENCES[part]?.[result.outcome] ?? COMMON[result.outcome];
    const sentence = result.shown ? t(result.shown, result) : known?.(result, given()) ?? (SENTENCES[part] ? '' : t(result.text));
    say(sentence, result.ok ? 'good' : 'bad');
    if (result.models?.length) offerModels(result);
    if (result.invite) line.append(' ', make('a', {href: result.invite, target: '_blank', rel: 'noreferrer', textContent: t('Invite it to your server')}));
    return result;
  }

  function offerModels({models, outcome}) {
    const select = fields.model_name, chosen = select.value;
    const names = models.map((value) => make('option', {value, textContent: value, selected: value === chosen}));
    if (outcome === 'no_such_model') names.unshift(make('option', {value: chosen, textContent: t('Choose…'), selected: true, disabled: true}));
    else if (!models.includes(chosen)) names.unshift(make('option', {value: chosen, textContent: chosen, selected: true}));
    select.replaceChildren(...names);
  }

  async function apply() {
    const result = await check();
    if (!result) { fields[0].focus(); return; }
    if (result.refused) { (result.outcome === 'no_such_model' ? fields.model_name : fields[0]).focus(); return; }
    card.inert = true;
    try {
      await page.call('setup.apply', parameters());
      say(t('Saved. One moment…'));
      await restart(page);
      page.opened = part;
      await page.reload();
    } catch (problem) { card.inert = false; say(problem.message || t('Daybook is offline'), 'bad'); save.focus(); }
  }

  card.querySelector('form').addEventListener('submit', (event) => { event.preventDefault(); apply(); });
  card.addEventListener('input', ({target}) => {
    asked++;
    clearTimeout(timer);
    if (target.closest('form')) timer = setTimeout(check, target.tagName === 'SELECT' ? 0 : SETTLED);
  });
  card.addEventListener('toggle', () => { if (card.open && isReady && !found) check(); });
  if (part === 'person' && !isReady) offerZone(fields, page);
  const end = card.querySelector('.pairing') ? pairing(card, page, () => found) : () => {};
  return () => { clearTimeout(timer); end(); };
}

async function offerZone(fields, page) {   // a server is often in UTC, and its person is not
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone, before = fields.timezone.value;
  let asks = false;
  try { ({asks} = await page.call('zone.offer', {zone})); } catch { /* the field can be filled in by hand */ }
  if (asks && fields.timezone.value === before) fields.timezone.value = zone;
}

// Who writes to the bot: the request appears, and is approved with one press.
function pairing(card, page, found) {
  if (card.dataset.ready !== 'true') return () => {};
  const box = card.querySelector('.pairing'), channel = card.dataset.part;
  let drawn = '';

  async function look() {
    if (!card.open || document.hidden) return;
    let rows;
    try { rows = (await page.call('pair.list')).filter((one) => one.channel === channel); } catch { return; }
    const bot = found(), now = JSON.stringify([rows, bot?.username, bot?.name]);
    if (now === drawn) return;
    drawn = now;
    const waiting = rows.filter((one) => one.state === 'waiting'), known = rows.filter((one) => one.state !== 'waiting');
    box.hidden = false;
    box.replaceChildren(...known.map((one) => make('p', {className: 'faint'}, t('{name} can write to me there.', {name: one.name || one.user_id}))), ...waiting.map(request));
    if (!rows.length) box.append(invitation(bot));
  }

  function invitation(bot) {
    const words = make('p', {}, t('Now write anything to the bot. Your request appears here.'), ' ');
    if (bot?.link) words.append(make('a', {href: bot.link, target: '_blank', rel: 'noreferrer', textContent: t('Open @{username}', {username: bot.username})}));
    return words;
  }

  function request(one) {
    const name = one.name || one.user_id;
    const approve = make('button', {type: 'button', className: 'main', textContent: t('Approve')});
    const decline = make('button', {type: 'button', textContent: t('Decline')});
    approve.onclick = () => answer('pair.approve', one);
    decline.onclick = () => answer('pair.decline', one);
    return make('div', {className: 'ask'}, make('p', {dir: 'auto'}, t('{name} wants to write to me.', {name})), make('div', {className: 'toolbar'}, approve, decline));
  }

  async function answer(operation, {code}) {
    box.inert = true;
    try { await page.call(operation, {code}); } catch (problem) { card.querySelector('.checked').textContent = problem.message || t('Daybook is offline'); }
    box.inert = false;
    drawn = '';
    await look();
  }

  card.addEventListener('toggle', look);
  const timer = setInterval(look, LOOK);
  return () => clearInterval(timer);
}

function search(card, page) {
  const line = card.querySelector('.checked'), bar = card.querySelector('progress'), save = card.querySelector('button.main');
  let timer = 0, asked = 0, wasUnderWay = false;

  async function look(answer) {
    clearTimeout(timer);
    const mine = ++asked;
    let state;
    try { state = await page.call('memory.embedder', answer ? {answer} : {}); }
    catch (problem) {
      if (mine !== asked) return;
      line.textContent = problem.message || t('Daybook is offline');
      if (wasUnderWay) timer = setTimeout(() => look(), LOOK);   // a restart goes on with it
      return;
    }
    if (mine !== asked) return;   // asked again meanwhile
    const isUnderWay = state.state === 'fetching' || state.state === 'embedding';
    bar.hidden = !isUnderWay;
    save.disabled = isUnderWay;
    save.hidden = card.dataset.ready === 'true' && state.state !== 'failed';
    if (state.of) { bar.max = state.of; bar.value = state.done; } else bar.removeAttribute('value');
    line.textContent = {fetching: t('Downloading the model…'), failed: state.text,
      embedding: t('Indexing your memories by meaning: {done} of {of}. Until half of them are done, search goes by words only.', {done: state.done, of: state.of})}[state.state] ?? '';
    if (isUnderWay) timer = setTimeout(() => look(), LOOK);
    else if (wasUnderWay && !state.state) { page.opened = 'search'; await page.reload(); }
    wasUnderWay = isUnderWay;
  }

  card.querySelector('form').addEventListener('submit', (event) => { event.preventDefault(); look('yes'); });
  card.addEventListener('toggle', () => { if (card.open) look(); });
  return () => clearTimeout(timer);
}
