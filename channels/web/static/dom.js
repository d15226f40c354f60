// Small helpers for elements, and moments as people say them.

import {t} from '/static/texts.js';

const SVG = 'http://www.w3.org/2000/svg';
const DAY = 86400000;
const written = document.documentElement.lang;
export const language = navigator.languages.find((one) => one.startsWith(written)) ?? written;   // as this browser writes dates

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg'), use = document.createElementNS(SVG, 'use');
  svg.setAttribute('class', 'icon');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

let zone;   // the user's, which is not always this browser's

export function keepZone(name) {
  try { new Intl.DateTimeFormat('en', {timeZone: name}); zone = name; } catch { /* a newer zone than this browser knows */ }
}

// "14:05", "yesterday, 14:05", "Mon, 14:05", "3 Nov 2025, 14:05", on the user's clock
export function spokenMoment(at, {now = new Date(), timeZone = zone} = {}) {
  const clock = at.toLocaleTimeString(language, {hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone});
  const dated = (moment) => moment.toLocaleDateString('en-CA', {timeZone});   // 2025-11-03
  const days = Math.round((Date.parse(dated(at)) - Date.parse(dated(now))) / DAY);
  return days ? `${spokenDay(days, at, dated(at).slice(0, 4) === dated(now).slice(0, 4), timeZone)}, ${clock}` : clock;
}

export function spokenDay(days, at, isThisYear, timeZone) {   // `days` from today
  if (Math.abs(days) <= 1) return new Intl.RelativeTimeFormat(language, {numeric: 'auto'}).format(days, 'day');
  const year = isThisYear ? {} : {year: 'numeric'};
  const parts = days > 0 && days < 7 ? {weekday: 'long'} : {weekday: 'short', day: 'numeric', month: 'short', ...year};
  return at.toLocaleDateString(language, {...parts, timeZone});
}

export function speakTimes(root) {   // each <time datetime> and <data class="count"> or "size" of a fragment, in this browser's language
  const today = new Date().toLocaleDateString('en-CA', {timeZone: zone});
  for (const element of root.querySelectorAll('time[datetime]')) {
    const isDay = element.dateTime.length === today.length, at = new Date(element.dateTime), timeZone = isDay ? 'UTC' : zone;
    if (Number.isNaN(at.valueOf())) continue;
    element.textContent = isDay
      ? spokenDay(Math.round((at - Date.parse(today)) / DAY), at, element.dateTime.slice(0, 4) === today.slice(0, 4), timeZone)
      : spokenMoment(at);
    element.title = isDay ? at.toLocaleDateString(language, {timeZone}) : at.toLocaleString(language, {timeZone});
  }
  for (const one of root.querySelectorAll('data.count')) one.textContent = Number(one.value).toLocaleString(language);
  for (const one of root.querySelectorAll('data.size')) one.textContent = spokenSize(Number(one.value));
}

function spokenSize(bytes) {   // "640 bytes", "1.2 kB", "12 MB"
  const [unit, size] = bytes < 1e3 ? ['byte', bytes] : bytes < 1e6 ? ['kilobyte', bytes / 1e3] : ['megabyte', bytes / 1e6];
  const unitDisplay = unit === 'byte' ? 'long' : 'short', maximumFractionDigits = unit !== 'byte' && size < 10 ? 1 : 0;
  return size.toLocaleString(language, {style: 'unit', unit, unitDisplay, maximumFractionDigits});
}

export function fullMoment(at) { return at.toLocaleString(language, {timeZone: zone}); }

export async function copy(text, button) {
  try { await navigator.clipboard.writeText(text); } catch { return; }
  const before = [...button.childNodes];
  button.replaceChildren(t('Copied'));
  setTimeout(() => button.replaceChildren(...before), 1500);
}

// What the gateway says: a sentence, or {english, values}; a value is such, {moment}, or a name, which is no language's.
export function said(text) {
  const spoken = (value) => (value.moment ? spokenMoment(new Date(value.moment)) : value.english ? said(value) : value);
  return text.english ? t(text.english, Object.fromEntries(Object.entries(text.values).map(([name, value]) => [name, spoken(value)]))) : t(text);
}

export function withCode(text) {   // nodes of a text, with `what is typed` as code
  return text.split('`').map((part, at) => (at % 2 ? make('code', {textContent: part}) : part));
}
