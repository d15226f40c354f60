// Settings: each key is written when it changes; one restart uses them all.

import {mount as mountSetup, restart} from '/static/setup.js';

let wantsRestart = false, opened = '';   // over a reload of the view

export function mount(root, page) {
  const bar = root.querySelector('#restart'), words = bar.querySelector('span'), button = bar.querySelector('button'), {t} = page;
  const own = {...page, get opened() { return opened; }, set opened(part) { opened = part; wantsRestart = false; }};
  const end = mountSetup(root.querySelector('#cards'), own);
  opened = '';
  drawBar();

  root.addEventListener('change', async ({target}) => {
    if (!target.dataset.key) return;
    const line = target.closest('.control').querySelector('[role="status"]');
    line.textContent = '';
    try {
      await page.call('config.set', {key: target.dataset.key, value: valueOf(target)});
      line.className = 'small good';
      line.textContent = t('Saved.');
      wantsRestart = true;
      drawBar();
    } catch (problem) {
      line.className = 'small bad';
      line.textContent = whyNot(target, problem.message);
    }
  });
  button.onclick = async () => {
    button.disabled = true;
    words.textContent = t('One moment…');
    try {
      await restart(page);
      wantsRestart = false;
      await page.reload();
    } catch (problem) { words.textContent = problem.message || t('Daybook is offline'); button.disabled = false; }
  };
  return end;

  function whyNot(field, why) {
    if (!why.includes(field.dataset.key)) return why || t('Daybook is offline');   // it is not the value
    return field.placeholder ? t('Write it like this: {example}', {example: field.placeholder}) : t('Write a number above 0, or leave it empty.');
  }

  function drawBar() {
    bar.hidden = !wantsRestart;
    words.textContent = t('Your changes are used after a restart. It takes a few seconds and loses nothing.');
  }
}

function valueOf(field) {   // null: the default
  if (field.tagName === 'SELECT') return JSON.parse(field.value);
  if (field.type === 'checkbox') return field.checked;
  const text = field.value.trim();
  if (!text) return null;
  return field.type === 'number' ? Number(text) : text;
}
