// The chat: what is said, what comes, and what waits until Daybook is back.
// What the server sends is described in frames.py. HTML comes from there only, made by format.py.

import {$, copy, fullMoment, icon, make, spokenMoment} from '/static/dom.js';
import {drawMarkup} from '/static/markup.js';
import {ask, call, pageKey} from '/static/net.js';
import {t} from '/static/texts.js';
import {againButton, earlierButton, editButton, showEarlier} from '/static/versions.js';

const chat = /^#[A-Za-z0-9_-]{1,64}$/.test(location.hash) ? location.hash.slice(1) : 'main';
const STORE = `daybook-unsent-${chat}`, DRAFT = `daybook-draft-${chat}`;
const FIRST_WAIT = 500, LONGEST_WAIT = 5000, DRAFT_STAYS = 2000, SAY_AGAIN = 3000, SILENCE = 10000, SLEEP = 60000, OFFER_LOOK = 1500, MOST_AT_END = 400;

let host = null, isShown = true;   // the shell (app.js), and whether the chat is the view in front
let socket = null, isOpen = false, wait = FIRST_WAIT, timer = 0, heard = 0, hiddenSince = Infinity;
let commands = [], limits = {largest_file: 0, longest_text: Infinity, most_files: 10};
let unread = 0, chosen = [], isSendDue = false;
const shown = new Map();      // id -> {entry, element}
const drafts = new Map();     // turn -> element
const unsent = new Map();     // id -> {frame, element}: said, and not known to be kept

// --- the connection

function connect() {
  clearTimeout(timer);
  if (socket) return;
  host.state(t('Connecting…'));
  const mine = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`);
  socket = mine;
  mine.onopen = () => mine.send(JSON.stringify({type: 'open', chat, key: pageKey()}));
  mine.onmessage = (event) => { heard = Date.now(); const frame = JSON.parse(event.data); handlers[frame.type]?.(frame); };
  mine.onclose = (event) => ended(event.reason);
}

function ended(why) {
  socket = null; isOpen = false;
  busy(false);
  host.state(why || offline(), true);
  timer = setTimeout(again, wait * (0.75 + Math.random() / 2));
  wait = Math.min(wait * 2, LONGEST_WAIT);
}

function expectAnswer(id) {   // after a sleep, or behind a tunnel, a connection may be dead and not know it
  const mine = socket, since = Date.now();
  setTimeout(() => {
    if (!unsent.has(id) || !mine || mine !== socket || heard >= since) return;
    drop();
    ended('');
  }, SILENCE);
}

function drop() {
  clearTimeout(timer);
  if (!socket) return;
  socket.onclose = socket.onmessage = null;
  socket.close();
  socket = null; isOpen = false;
}

async function again() {   // a session may have run out meanwhile
  const answer = await ask('/session');
  if (answer && answer.status === 401) host.start(); else connect();
}

function now() { if (host?.isIn() && !socket) { wait = FIRST_WAIT; connect(); } }
addEventListener('online', now);
document.addEventListener('visibilitychange', () => {
  if (document.hidden) { hiddenSince = Date.now(); return; }
  seen();
  if (Date.now() - hiddenSince > SLEEP) drop();   // after a phone's sleep a connection may be dead and not know it
  now();
});

function tell(frame) { if (isOpen && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame)); }

function offline() { return unsent.size ? t('Offline: your message will be sent when Daybook is back.') : t('Offline. Reconnecting…'); }

const handlers = {
  opened(frame) {
    isOpen = true; wait = FIRST_WAIT; host.state(''); host.back();
    ({commands} = frame); limits = frame;
    const numbers = [...shown.values()].map((one) => one.entry.number);
    const first = frame.messages[0]?.number ?? 0, last = frame.messages.at(-1)?.number ?? 0;
    const newest = Math.max(0, ...numbers);
    if (newest && (newest > last || (frame.more && newest < first))) forget();   // a gap, or another record
    const there = new Set(frame.messages.map((one) => one.id));
    for (const id of [...shown.keys()]) if (!there.has(id)) dropMessage(id);   // it may read otherwise by now, or be replaced
    dropDrafts();
    frame.messages.forEach(show);
    frame.drafts.forEach(handlers.draft);
    busy(frame.busy);
    for (const [id, one] of unsent) if (shown.has(id)) settled(id); else tell(one.frame);
    empty(); toEnd(readsEnd);
    moreAbove(frame.more);
    lookAtOffer();
  },
  replaced(frame) {
    keepingEnd(() => { frame.ids.forEach(dropMessage); frame.turns.forEach(dropDraft); });
  },
  earlier(frame) {
    const message = shown.get(frame.message)?.element ?? document.querySelector(`.version [data-id="${frame.message}"]`);
    readsEnd = false;   // they want to read it
    if (message) showEarlier(message, frame.messages.map((one) => drawn(one, true)));
  },
  message(frame) {
    const isNew = !shown.has(frame.id);
    show(frame);
    if (isNew && frame.by === 'daybook' && (document.hidden || !isShown)) { unread += 1; title(); notify(frame.id); }
    empty();
  },
  draft(frame) {
    keepingEnd(() => {
      let element = drafts.get(frame.turn);
      if (!element) {
        element = make('article', {className: 'message daybook'}, make('div', {className: 'body prose', dir: 'auto'}));
        drafts.set(frame.turn, element);
        $('drafts').append(element);
      }
      clearTimeout(element.leaves);
      element.html = frame.html;
      if (!isSelecting(element)) element.firstChild.innerHTML = frame.html;
    });
  },
  busy(frame) {
    busy(frame.on);
    if (!frame.on) drafts.forEach((element, turn) => { element.leaves = setTimeout(() => dropDraft(turn), DRAFT_STAYS); });
  },
  kept(frame) { settled(frame.id); },
  refused(frame) {
    const one = unsent.get(frame.id);
    if (!one) return host.state(frame.why, true);
    if (!one.element && !frame.again) { settled(frame.id); return host.state(frame.why, true); }
    if (frame.again) {
      note(one, `${frame.why} ${t('Trying again…')}`);
      return setTimeout(() => { if (unsent.has(frame.id)) tell(one.frame); }, SAY_AGAIN);
    }
    const back = make('button', {type: 'button', textContent: t('Edit')});
    back.onclick = () => {
      $('text').value = [one.frame.text, $('text').value].filter(Boolean).join('\n');
      one.element.remove(); grow(); empty();
    };
    note(one, frame.why, back);
    unsent.delete(frame.id); remember();
  },
  older(frame) {
    const first = $('messages').firstElementChild, before = first?.getBoundingClientRect().top;
    const fresh = frame.messages.filter((entry) => !shown.has(entry.id));
    $('messages').prepend(...fresh.map((entry) => {
      const element = drawn(entry);
      element.number = entry.number;
      shown.set(entry.id, {entry, element});
      return element;
    }));
    if (first) $('scroll').scrollTop += first.getBoundingClientRect().top - before;   // what is read stays where it is
    moreAbove(frame.more);
  },
  failed(frame) { host.state(frame.why, true); },
};

// --- what stands in the chat

function show(entry) {
  keepingEnd(() => {
    const element = drawn(entry);
    const before = shown.get(entry.id);
    shown.set(entry.id, {entry, element});
    if (before) {
      before.element.replaceWith(element);
      shown.forEach((one) => { if (one.entry.reply_to === entry.id) quoteAnew(one); });
    } else {
      const next = [...$('messages').children].reverse().find((one) => one.number < entry.number);
      element.number = entry.number;
      if (next) next.after(element); else $('messages').prepend(element);
    }
    element.number = entry.number;
    if (entry.turn) dropDraft(entry.turn);
    if (unsent.has(entry.id)) settled(entry.id);
    document.querySelector(`#waiting > [data-id="${entry.id}"]`)?.remove();
  });
}

function drawn(entry, isEarlier = false) {
  const body = make('div', {className: `body${entry.by === 'daybook' ? ' prose' : ''}`, dir: 'auto'});
  const answered = entry.reply_to && shown.get(entry.reply_to)?.entry;
  if (answered) body.append(make('div', {className: 'answers', textContent: answered.text || '…'}));
  if (entry.by === 'person') body.append(entry.text);
  else { body.insertAdjacentHTML('beforeend', entry.html); copyableCode(body); drawMarkup(body); }
  if (entry.files.length) body.append(make('div', {className: 'files'}, ...entry.files.map(drawnFile)));
  for (const row of isEarlier ? [] : entry.buttons) {
    body.append(make('div', {className: 'buttons'}, ...row.map((one) => {
      const button = make('button', {type: 'button', textContent: one.label});
      button.onclick = () => press(entry.id, one.data, button);
      return button;
    })));
  }
  const at = new Date(entry.at);
  const who = entry.by === 'person' ? t('You') : 'Daybook';
  const footer = make('footer', {}, make('time', {dateTime: entry.at, textContent: spokenMoment(at), title: fullMoment(at)}), copyButton());
  const kind = `${entry.error ? ' error' : ''}${isReminder(entry) ? ' reminder' : ''}`;
  const element = make('article', {className: `message ${entry.by}${kind}`, ariaLabel: who}, body, footer);
  if (!isEarlier && entry.by === 'person' && !entry.text.startsWith('/')) footer.append(editButton(entry, resend));
  if (!isEarlier && entry.by === 'daybook' && entry.turn.startsWith('web:')) footer.append(againButton(() => answerAgain(entry)));
  if (entry.replaces) element.prepend(earlierButton(entry, (id) => tell({type: 'earlier', message: id})));
  element.dataset.id = entry.id;
  return element;
}

function answerAgain(entry) {   // the newest of a person's messages before it, once more
  const before = [...shown.values()].map((one) => one.entry).filter((one) => one.by === 'person' && one.number < entry.number);
  const asked = before.reduce((last, one) => (one.number > (last?.number ?? 0) ? one : last), null);
  if (asked) resend(asked.id, asked.text);
}

function isReminder(entry) { return entry.by === 'daybook' && entry.html.startsWith('<p>⏰'); }   // as the schedule writes them

function quoteAnew(one) {
  const element = drawn(one.entry);
  element.number = one.entry.number;
  one.element.replaceWith(element);
  one.element = element;
}

function drawnFile(file) {
  const button = make('button', {type: 'button', title: file.name, textContent: file.image ? '' : file.name});
  button.onclick = async () => {
    const {path, why} = await pathOf(file);
    if (!path) return host.state(why, true);
    make('a', {href: path, rel: 'noopener', ...(file.image ? {target: '_blank'} : {download: file.name})}).click();
  };
  if (file.image) {
    const image = make('img', {alt: file.name, loading: 'lazy'});
    const load = async () => { const {path} = await pathOf(file); if (path) image.src = path; };
    image.onerror = () => { image.onerror = null; load(); };   // it came into view later than its path was good
    button.append(image);
    load();
  }
  if (file.audio) return make('span', {className: 'sound'}, player(file), button);
  return button;
}

function player(file) {
  const sound = make('audio', {controls: true, preload: 'none', ariaLabel: file.name});
  const load = async () => { const {path} = await pathOf(file); if (path) sound.src = path; return path; };
  sound.onerror = async () => { sound.onerror = null; if (await load()) sound.play(); };   // its path was good for some minutes
  load();
  return sound;
}

async function pathOf(file) {   // good for some minutes, for what cannot send the page key
  const answer = await ask(file.url);
  return answer?.ok ? await answer.json() : {why: answer ? await answer.text() : t('Daybook is offline')};
}

function isSelecting(element) {   // somebody marks text in it, which drawing it anew would lose
  const selection = getSelection();
  return !selection.isCollapsed && element.contains(selection.anchorNode);
}
document.addEventListener('selectionchange', () => drafts.forEach((element) => {
  if (!isSelecting(element) && element.firstChild.innerHTML !== element.html) element.firstChild.innerHTML = element.html;
}));

function dropMessage(id) { shown.get(id)?.element.remove(); shown.delete(id); }
function forget() { shown.clear(); $('messages').replaceChildren(); moreAbove(false); }
function dropDraft(turn) { const one = drafts.get(turn); if (one) { clearTimeout(one.leaves); one.remove(); drafts.delete(turn); } }
function dropDrafts() { [...drafts.keys()].forEach(dropDraft); }
function busy(on) { keepingEnd(() => { $('typing').hidden = !on; $('stop').hidden = !on; }); }
function empty() { $('empty').hidden = shown.size > 0 || $('waiting').children.length > 0; }
function seen() { if (isShown && !document.hidden) { unread = 0; title(); } }
function title() { document.title = (unread ? `(${unread}) ` : '') + 'Daybook'; }

// Who reads the end goes on reading it, whatever grows (a picture that arrives, a keyboard that opens), until they scroll up.
let readsEnd = true, lastTop = 0;

function atEnd() { const view = $('scroll'); return view.scrollHeight - view.scrollTop - view.clientHeight < 80; }
function toEnd(now) {
  if (now) { if (!readsEnd) lighten(); readsEnd = true; $('scroll').scrollTop = $('scroll').scrollHeight; }
  $('down').hidden = readsEnd || atEnd();
}
function keepingEnd(change) { change(); toEnd(readsEnd); }
$('scroll').addEventListener('scroll', () => {
  const top = $('scroll').scrollTop;
  if (atEnd()) { if (!readsEnd) lighten(); readsEnd = true; } else if (top < lastTop) readsEnd = false;
  lastTop = top;
  $('down').hidden = readsEnd;
});
const grown = new ResizeObserver(() => toEnd(readsEnd));
for (const one of ['scroll', 'messages', 'drafts']) grown.observe($(one));
$('down').onclick = () => toEnd(true);

// Older messages come as one scrolls up to them.
const above = new IntersectionObserver((changes) => { if (changes.at(-1).isIntersecting) askOlder(); }, {root: $('scroll'), rootMargin: '600px 0px 0px'});

function moreAbove(more) {
  $('older').hidden = !more;
  $('before').hidden = more || !shown.size;
  above.disconnect();
  if (more) above.observe($('older'));
}

function lighten() {   // whoever has come back to the end needs no thousands of old ones; they can be asked for again
  if (shown.size <= MOST_AT_END) return;
  for (const element of [...$('messages').children].slice(0, -MOST_AT_END / 2)) dropMessage(element.dataset.id);
  moreAbove(true);
}

function askOlder() {
  above.disconnect();
  const first = $('messages').firstElementChild?.number;
  if (first) tell({type: 'older', before: first});
}
$('older').onclick = askOlder;
$('messages').addEventListener('focusin', (event) => { if (event.target.matches('.edit textarea')) readsEnd = false; });
$('messages').addEventListener('click', (event) => event.target.closest('.spoiler')?.classList.add('seen'));
$('messages').addEventListener('keydown', (event) => {
  if ((event.key === 'Enter' || event.key === ' ') && event.target.matches('.spoiler:not(.seen)')) {
    event.preventDefault(); event.target.classList.add('seen');
  }
});

// --- saying something

function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function say(text, files) {
  const frame = {type: 'say', id: newId(), text, files};
  keep(frame);
  tell(frame);
  expectAnswer(frame.id);
  empty(); toEnd(true);
}

function resend(message, text) {
  const frame = {type: 'resend', id: newId(), message, text};
  keep(frame);
  tell(frame);
  expectAnswer(frame.id);
  host.state(isOpen ? '' : offline(), !isOpen);
  toEnd(true);
}

function press(message, data, button) {
  const frame = {type: 'press', id: newId(), message, data};
  button.disabled = true;
  setTimeout(() => { button.disabled = false; }, 2000);
  unsent.set(frame.id, {frame, element: null}); remember();
  tell(frame);
}

function keep(frame) {
  const names = (frame.files ?? []).map((file) => file.name).join('\n');
  const body = make('div', {className: 'body', dir: 'auto', textContent: [frame.text, names].filter(Boolean).join('\n')});
  const element = make('article', {className: 'message person waiting', ariaLabel: t('You')}, body, make('footer', {textContent: t('sending…')}));
  element.dataset.id = frame.id;
  $('waiting').append(element);
  unsent.set(frame.id, {frame, element}); remember();
}

function settled(id) {
  const one = unsent.get(id);
  if (!one) return;
  one.element?.classList.remove('waiting');
  if (one.element) one.element.lastChild.textContent = '';
  unsent.delete(id); remember();
}

function note(one, why, ...more) {
  one.element?.lastChild.replaceChildren(make('span', {className: 'why', textContent: why}), ' ', ...more);
}

function remember() {   // a reload of the page says it again, under the same id
  try { sessionStorage.setItem(STORE, JSON.stringify([...unsent.values()].map((one) => one.frame))); } catch { /* full */ }
}

function recall() {
  let frames = [];
  try { frames = JSON.parse(sessionStorage.getItem(STORE) || '[]'); } catch { /* damaged */ }
  for (const frame of frames) if (frame.type === 'say' || frame.type === 'resend') keep(frame); else unsent.set(frame.id, {frame, element: null});
}

$('say').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = $('text').value;
  isSendDue = false;
  if (chosen.some((one) => one.wrong)) return host.state(t('Remove the file that couldn’t be added.'), true);
  if (chosen.some((one) => !one.handle)) {
    isSendDue = true;
    return host.state(t('It is sent as soon as the file is uploaded.'));
  }
  if (text.length > limits.longest_text) return host.state(t('A message can have at most {most} characters.', {most: limits.longest_text}), true);
  if (!text.trim() && !chosen.length) return;
  say(text, chosen.map(({handle, name, media_type}) => ({handle, name, media_type})));
  host.state(isOpen ? '' : offline(), !isOpen);
  $('text').value = ''; chosen.forEach(release); chosen = []; drawChosen(); grow();
});
$('stop').onclick = () => {
  const frame = {type: 'stop', id: newId()};
  unsent.set(frame.id, {frame, element: null}); remember();
  tell(frame);
};
$('text').addEventListener('keydown', (event) => {
  if (!$('commands').hidden) {
    if (event.key === 'Tab' && !event.shiftKey) { event.preventDefault(); $('commands').firstChild.click(); }
    if (event.key === 'ArrowUp') { event.preventDefault(); $('commands').lastChild.focus(); }
    if (event.key === 'ArrowDown') { event.preventDefault(); $('commands').firstChild.focus(); }
    if (event.key === 'Escape') $('commands').hidden = true;
  }
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && matchMedia('(hover: hover)').matches) {
    event.preventDefault(); $('say').requestSubmit();
  }
});
$('text').addEventListener('input', grow);
$('commands').addEventListener('keydown', (event) => {
  const at = document.activeElement;
  const next = {ArrowDown: at.nextSibling, ArrowUp: at.previousSibling, Escape: null}[event.key];
  if (next === undefined) return;
  event.preventDefault();
  (next ?? $('text')).focus();
  if (event.key === 'Escape') $('commands').hidden = true;
});

function grow() {
  keepDraft($('text').value);
  $('text').style.height = 'auto';
  $('text').style.height = `${$('text').scrollHeight + 2}px`;
  const begun = /^\/([a-z]*)$/.exec($('text').value);
  const fitting = begun ? commands.filter((one) => one.name.startsWith(begun[1]) && one.name !== begun[1]) : [];
  $('commands').replaceChildren(...fitting.map((one) => {
    const button = make('button', {type: 'button'}, `/${one.name} ${one.usage}`, make('small', {textContent: one.description}));
    button.onclick = () => { $('text').value = `/${one.name}${one.usage ? ' ' : ''}`; $('text').focus(); grow(); };
    return button;
  }));
  $('commands').hidden = !fitting.length;
}

// --- the model that finds by meaning: one question, then a bar until every memory is taken in

let offerTimer = 0;

async function lookAtOffer(answer) {
  clearTimeout(offerTimer);
  const shown = await call('memory.embedder', answer ? {answer} : {}).catch(() => null);
  if (shown) keepingEnd(() => drawOffer(shown));
}

function drawOffer({state, text, size, done, of}) {
  const isAsked = state === 'offered' || state === 'failed', isUnderWay = state === 'fetching' || state === 'embedding';
  $('offer').hidden = !isAsked && !isUnderWay;
  $('offer').dataset.state = state;
  $('offer-yes').hidden = $('offer-no').hidden = !isAsked;
  $('offer-yes').textContent = state === 'failed' ? t('Try again') : t('Yes, download it');
  $('offer-bar').hidden = !isUnderWay;
  const bar = $('offer-bar');
  if (of) { bar.max = of; bar.value = done; } else bar.removeAttribute('value');
  $('offer-text').textContent = {fetching: t('Downloading the model…'), offered:
    `${t('Find memories by what they mean, not only by their words?')} ${t('It finds about two in ten of the answers that words alone miss. An English model of {size} MB is downloaded once; nothing you write leaves this computer.', {size})}`, embedding:
    t('Indexing your memories by meaning: {done} of {of}. Until half of them are done, search goes by words only.', {done, of})}[state] ?? text;
  if (isUnderWay) offerTimer = setTimeout(() => lookAtOffer(), OFFER_LOOK);
}
$('offer-yes').onclick = () => lookAtOffer('yes');
$('offer-no').onclick = () => lookAtOffer('no');

// --- files

$('attach').onclick = () => $('files').click();
$('files').addEventListener('change', () => { take($('files').files); $('files').value = ''; });
$('text').addEventListener('paste', (event) => {
  if (event.clipboardData.files.length) { event.preventDefault(); take(event.clipboardData.files); }
});
addEventListener('dragover', (event) => { event.preventDefault(); document.body.classList.add('drop'); });
addEventListener('dragleave', () => document.body.classList.remove('drop'));
addEventListener('drop', (event) => {
  event.preventDefault(); document.body.classList.remove('drop');
  if (host.isIn() && isShown) take(event.dataTransfer.files);
});

function take(files) {
  for (const file of files) {
    if (chosen.length >= limits.most_files) return host.state(t('A message can have at most {most} files.', {most: limits.most_files}), true);
    const one = {name: file.name || 'file', media_type: file.type, handle: '', wrong: '', picture: ''};
    if (/^image\/(png|jpeg|gif|webp)$/.test(file.type)) one.picture = URL.createObjectURL(file);
    chosen.push(one);
    upload(file, one);
  }
  drawChosen();
}

async function upload(file, one) {
  if (limits.largest_file && file.size > limits.largest_file) {
    one.wrong = t('larger than {size} MB', {size: Math.round(limits.largest_file / 1e6)});
  } else {
    const type = {'Content-Type': 'application/octet-stream'};
    const answer = await ask('/files', {method: 'POST', headers: type, body: file});
    if (answer && answer.ok) one.handle = (await answer.json()).handle;
    else one.wrong = answer ? await answer.text() : t('Daybook is offline');
  }
  drawChosen();
  if (isSendDue) $('say').requestSubmit();
}

function release(one) { if (one.picture) URL.revokeObjectURL(one.picture); }

function drawChosen() {
  $('chosen').replaceChildren(...chosen.map((one) => {
    const remove = make('button', {type: 'button', textContent: '×', ariaLabel: t('Remove {name}', {name: one.name})});
    remove.onclick = () => { chosen = chosen.filter((other) => other !== one); isSendDue = false; release(one); drawChosen(); };
    const how = one.wrong ? `: ${one.wrong}` : one.handle ? '' : ' …';
    const picture = one.picture ? [make('img', {src: one.picture, alt: ''})] : [];
    return make('span', {className: one.wrong ? 'wrong' : ''}, ...picture, `${one.name}${how} `, remove);
  }));
}

// --- what the shell asks of it

export function openChat(shell) {
  host = shell;
  if (chat !== 'main') document.title = `Daybook · ${chat}`;
  addEventListener('hashchange', () => location.reload());
  for (const example of $('examples').children) example.onclick = () => { $('text').value = example.textContent; grow(); focus(); };
  try { $('text').value = localStorage.getItem(DRAFT) ?? ''; } catch { /* nothing is kept */ }
  recall();
  grow();
  return {connect, drop, forget, forgetUnsent, focus, inFront, say: (text) => say(text, [])};

  function forgetUnsent() { sessionStorage.removeItem(STORE); keepDraft(''); }
  function focus() { $('text').focus(); }
  function inFront(on) { isShown = on; seen(); if (on) toEnd(readsEnd); }
}

function keepDraft(text) {
  try { if (text) localStorage.setItem(DRAFT, text); else localStorage.removeItem(DRAFT); } catch { /* full */ }
}

// --- notifications, where the person allowed them

function canAsk() { return 'Notification' in globalThis && Notification.permission === 'default'; }

$('notify').hidden = !canAsk();
$('notify').onclick = async () => { await Notification.requestPermission(); $('notify').hidden = !canAsk(); };

async function notify(id) {
  if (!document.hidden || !('Notification' in globalThis) || Notification.permission !== 'granted') return;
  const body = shown.get(id)?.element.querySelector('.body > :not(.buttons)')?.textContent.trim().slice(0, 200) ?? '';
  const options = {body, tag: id, icon: '/static/icon-180.png'};
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker?.active) { worker.showNotification('Daybook', options); return; }   // phones know no other way
  const notification = new Notification('Daybook', options);
  notification.onclick = () => { globalThis.focus(); notification.close(); };
}

function copyableCode(body) {
  for (const block of body.querySelectorAll('pre')) {
    const button = make('button', {type: 'button', className: 'copy', textContent: t('Copy')});
    button.onclick = () => copy(block.querySelector('code').innerText, button);
    block.append(button);
  }
}

function copyButton() {
  const button = make('button', {type: 'button', className: 'quiet', title: t('Copy'), ariaLabel: t('Copy')}, icon('copy'));
  button.onclick = () => copy(button.closest('.message').querySelector(':scope > .body').innerText.trim(), button);
  return button;
}
