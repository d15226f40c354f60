// The shell: getting in, going from view to view, light and dark. chat.js is the chat; other views come from /view/NAME.

import {openChat} from '/static/chat.js';
import {$, keepZone, make, speakTimes} from '/static/dom.js';
import {drawMarkup} from '/static/markup.js';
import {JSON_TYPE, ask, call, keepKey, pageKey, whenKeyChanges} from '/static/net.js';
import {t} from '/static/texts.js';
import {offerZone} from '/static/zone.js';

const RENEW = 3600000;
const CHAT = '';
const links = new Map([...document.querySelectorAll('#side .links a')].map((link) => [link.dataset.view, link]));
const once = location.hash.startsWith('#once=') ? location.hash.slice('#once='.length) : '';
if (once) history.replaceState(null, '', location.pathname);   // a link logs in once, and its secret stays nowhere
let isIn = false, leave = null, shownPath = '', asking = 0, isViewMissing = false;

// --- getting in

async function start() {
  const answer = pageKey() ? await ask('/session') : {ok: false};
  isIn = answer === null || answer.ok;
  const zone = answer?.headers?.get('Daybook-Zone');
  if (zone) keepZone(zone);
  $('zone').hidden = true;
  $('login').hidden = isIn;
  $('main').hidden = !isIn;
  if (isIn) { chat.connect(); go(location.pathname + location.search, {isFirst: true}); if (zone) offerZone(zone, zoneChosen); }
  else { chat.drop(); chat.forget(); leaveView(); $('view').replaceChildren(); shownPath = ''; $('token').focus(); }
}

function zoneChosen({isMoved = false} = {}) {
  if ($('view').hidden) { chat.focus(); return; }
  if (isMoved) page.reload();
  $('view').focus();
}

export async function logIn(proof) {   // returns what is wrong, if anything
  const answer = await ask('/login', {method: 'POST', headers: JSON_TYPE, body: JSON.stringify(proof)});
  if (!answer) return t('Daybook isn’t answering. Is it running?');
  if (!answer.ok) return await answer.text();
  keepKey((await answer.json()).key);
  start();
  return '';
}

const chat = openChat({state, isIn: () => isIn, start, back() { if (isViewMissing && !$('view').hidden) page.reload(); }});
whenKeyChanges(start);   // another tab logged in or out
setInterval(async () => {   // a page that stays open is in use
  if (isIn && (await ask('/session'))?.status === 401) start();
}, RENEW);

$('login').addEventListener('submit', async (event) => {
  event.preventDefault();
  $('login-wrong').textContent = '';
  const wrong = await logIn({token: $('token').value.trim()});
  $('login-wrong').textContent = wrong;
  if (!wrong) $('token').value = '';
});

$('logout').addEventListener('click', async () => {
  const answer = await ask('/logout', {method: 'POST'});
  if (answer && (answer.ok || answer.status === 401)) { keepKey(''); chat.forgetUnsent(); location.reload(); }
});

function state(text, wrong = false) {
  $('state').textContent = text;
  $('state').classList.toggle('wrong', wrong);
}

// --- views

function viewOf(path) { return new URL(path, location.href).pathname.slice(1); }

async function go(path, {isFirst = false, keepsPlace = false} = {}) {
  const name = viewOf(path), link = links.get(name) ?? links.get(CHAT);
  menu(false);
  for (const one of links.values()) if (one === link) one.setAttribute('aria-current', 'page'); else one.removeAttribute('aria-current');
  $('top-title').textContent = link.textContent;
  $('chat-view').hidden = name !== CHAT;
  $('view').hidden = name === CHAT;
  chat.inFront(name === CHAT);
  if (name === CHAT) { leaveView(); shownPath = path; if (isFirst || matchMedia('(hover: hover)').matches) chat.focus(); return; }
  if (!isFirst || shownPath !== path) await load(path, link, {isFirst, keepsPlace});
}

async function load(path, link, {isFirst, keepsPlace}) {
  const mine = ++asking, url = new URL(path, location.href);
  $('view').classList.add('loading');
  const script = link.dataset.script ? import(link.dataset.script).catch(() => null) : {mount() {}};
  const [answer, module] = await Promise.all([ask(`/view${url.pathname}${url.search}`), script]);
  const isWhole = answer?.ok && module !== null;   // a view is not shown without its script
  const text = answer && (isWhole || !answer.ok) ? (await answer.text()).trim() : t('Offline. Reconnecting…');
  if (mine !== asking) return;   // the person has gone on
  $('view').classList.remove('loading');
  if (answer?.status === 401) return start();
  isViewMissing = !answer || module === null;
  if (isViewMissing && path === shownPath) return;   // what is there can still be read
  leaveView();
  shownPath = path;
  const inner = make('div', {className: 'inner'});
  if (isWhole) inner.innerHTML = text;   // made by Jinja2, which escapes what is filled in
  else inner.append(make('p', {className: 'empty', textContent: text}));
  const top = $('view').scrollTop;
  $('view').replaceChildren(inner);
  $('view').scrollTop = keepsPlace ? top : 0;
  if (!isFirst && !keepsPlace) $('view').focus();   // who goes by keyboard goes on in what they opened
  speakTimes(inner);
  drawMarkup(inner);
  if (isWhole) leave = module.mount(inner, page) ?? null;
}

function leaveView() { leave?.(); leave = null; }

// What a view's script may use.
const page = {
  ask, call, state, t,
  say: (text) => chat.say(text),
  go(path) { history.pushState(null, '', path); return go(path); },
  reload() { return go(shownPath, {keepsPlace: true}); },
  replace(path) { history.replaceState(null, '', path); return go(path, {keepsPlace: true}); },
};

// At the first visit, before anything was said, the set-up is offered below the examples.
let leaveSetup = null, offering = 0;
async function offerSetup() {
  const mine = ++offering;
  leaveSetup?.();
  leaveSetup = null;
  if ($('empty').hidden || $('chat-view').hidden || !isIn) { $('setup').replaceChildren(); return; }
  const [answer, module] = await Promise.all([ask('/view/setup'), import('/static/setup.js')]);
  if (!answer?.ok || mine !== offering) return;
  $('setup').innerHTML = await answer.text();   // made by Jinja2, which escapes what is filled in
  leaveSetup = module.mount($('setup'), firstVisit);
  firstVisit.opened = '';
  if (!$('setup').querySelector('.setup:not([hidden])')) { $('setup').replaceChildren(); return; }
  $('setup').prepend(make('h3', {textContent: t('Set up what you like. All of it stays under Settings.')}));
}
const firstVisit = {ask, call, isFirstVisit: true, opened: '', reload: offerSetup};
for (const one of [$('empty'), $('chat-view')]) new MutationObserver(offerSetup).observe(one, {attributeFilter: ['hidden']});

addEventListener('popstate', () => { if (isIn) go(location.pathname + location.search); });
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="/"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button || link.hasAttribute('download') || link.target) return;
  const url = new URL(link.href);
  if (!links.has(viewOf(url.pathname))) return;
  event.preventDefault();
  page.go(url.pathname + url.search);
});

$('skip').onclick = () => { if ($('view').hidden) chat.focus(); else $('view').focus(); };

// --- the sidebar on a phone, light and dark

function menu(open) {
  $('main').classList.toggle('menu', open);
  $('menu').setAttribute('aria-expanded', open);
}
$('menu').onclick = () => { menu(true); links.get(CHAT).focus(); };
$('shade').onclick = () => menu(false);
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && $('main').classList.contains('menu')) { menu(false); $('menu').focus(); }
});

$('theme').onclick = () => {
  const root = document.documentElement, isDark = getComputedStyle(root).colorScheme === 'dark'
    || (root.dataset.theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = isDark ? 'light' : 'dark';
  try { localStorage.setItem('daybook-theme', root.dataset.theme); } catch { /* for now */ }
};

if ('serviceWorker' in navigator) navigator.serviceWorker.register('/sw.js').catch(() => {});
if (once) logIn({once}).then(async (wrong) => { if (wrong) { await start(); $('login-wrong').textContent = wrong; } });
else start();
