// Usage: days and numbers as the language of this browser writes them.

import {language, spokenDay} from '/static/dom.js';

const DAY = 86400000;
const amount = new Intl.NumberFormat(language, {notation: 'compact', maximumSignificantDigits: 3});
const exact = new Intl.NumberFormat(language);
const percent = new Intl.NumberFormat(language, {style: 'percent'});
const usd = new Intl.NumberFormat(language, {style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol'});
const cents = new Intl.NumberFormat(language, {style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', maximumSignificantDigits: 2});

export function mount(root) {
  for (const one of root.querySelectorAll('data.tokens')) {
    one.textContent = amount.format(one.value);
    one.title = exact.format(one.value);
  }
  for (const one of root.querySelectorAll('data.percent')) one.textContent = percent.format(one.value);
  for (const one of root.querySelectorAll('data.usd')) one.textContent = (one.value > 0 && one.value < .01 ? cents : usd).format(one.value);
  for (const one of root.querySelectorAll('time[data-day]')) {
    const {day, today} = one.dataset, at = new Date(`${day}T00:00:00Z`);
    const days = Math.round((at - Date.parse(`${today}T00:00:00Z`)) / DAY);
    one.textContent = spokenDay(days, at, day.slice(0, 4) === today.slice(0, 4), 'UTC');
  }
}
