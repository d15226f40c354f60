// Reminders and jobs: added in words or by a form, paused, run, changed, deleted.

import {language, spokenDay, spokenMoment} from '/static/dom.js';

const FRESH = 60000, FRESH_WHILE_OPEN = 2000;
const DAY = 86400000;
let said = null, focusOn = '';   // shown, and focused, once the view has been read again

export function mount(root, page) {
  const {t} = page, find = (selector) => root.querySelector(selector);
  const form = find('#job-form'), sure = find('#job-delete');
  let editing = null;

  speakDays();
  if (said) tell(said.text, said.isWrong);
  if (focusOn) root.querySelector(focusOn)?.focus();
  said = null; focusOn = '';

  root.addEventListener('click', onClick);
  find('#remind')?.addEventListener('submit', onRemind);
  form.addEventListener('submit', onSave);
  sure.addEventListener('submit', onDelete);
  field('rhythm').addEventListener('change', showParts);
  const timer = setInterval(refresh, find('.tag.open') ? FRESH_WHILE_OPEN : FRESH);
  return () => clearInterval(timer);

  function refresh() {   // unless a person is in the middle of something
    if (document.hidden || form.open || sure.open || find('#remind input')?.value) return;
    const focus = placeOf(document.activeElement);
    if (focus === null) return;
    focusOn = focus;
    if (find('#jobs-said:not([hidden])')) said = {text: find('#jobs-said').textContent, isWrong: find('#jobs-said').classList.contains('wrong')};
    root.inert = true;
    page.reload();
  }

  function placeOf(element) {   // a selector that finds it again; null: there is none
    if (!root.contains(element)) return '';
    const job = element.closest('.job'), act = element.dataset.act;
    return job && act ? `${lineOf(job.dataset.id)} [data-act="${act}"]` : null;
  }

  function lineOf(id) { return `.job[data-id="${CSS.escape(id)}"]`; }

  function field(name) { return form.querySelector(`[name="${name}"]`); }

  function tell(text, isWrong = false) {
    const line = find('#jobs-said');
    if (!line) return page.state(text, isWrong);
    line.textContent = text;
    line.className = `notice ${isWrong ? 'wrong' : 'good'}`;
    line.hidden = false;
  }

  function reason(problem) { return problem.message || t('Daybook is offline'); }

  function whenOf(job) {
    return job.next_run ? spokenMoment(new Date(job.next_run), {timeZone: find('#job-zone').dataset.zone}) : t('never');
  }

  async function again(text, focus = '') {
    said = {text, isWrong: false}; focusOn = focus;
    page.state('');
    root.inert = true;
    await page.reload();
  }

  function speakDays() {
    for (const heading of root.querySelectorAll('[data-day]')) {
      const {day, today} = heading.dataset, at = new Date(`${day}T00:00:00Z`);
      const days = Math.round((at - Date.parse(`${today}T00:00:00Z`)) / DAY);
      const dated = at.toLocaleDateString(language, {weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC'});
      heading.textContent = Math.abs(days) <= 1 ? `${spokenDay(days, at, true, 'UTC')}, ${dated}` : dated;
    }
  }

  async function onRemind(event) {
    event.preventDefault();
    const input = find('#remind input');
    root.inert = true;
    try {
      const job = await page.call('schedule.remind', {text: input.value});
      input.value = '';
      await again(t('I’ll remind you {when}: {text}', {when: whenOf(job), text: job.text}), '#remind input');
    } catch (problem) { root.inert = false; tell(reason(problem), true); input.focus(); }
  }

  async function onClick(event) {
    const button = event.target.closest('[data-act]');
    if (!button) return;
    const act = button.dataset.act, line = button.closest('.job');
    if (act === 'close') return button.closest('dialog').close();
    if (act === 'new') return open(null);
    const job = JSON.parse(line.dataset.job);
    if (act === 'edit') return open(job);
    if (act === 'delete') return ask(job);
    root.inert = true;   // what is pressed until the view is read again would be lost
    try {
      const done = await page.call(`schedule.${act}`, {id: job.id});
      const text = {pause: () => t('Paused: {text}', {text: job.title}), run: () => t('It runs now: {text}', {text: job.title}),
        resume: () => t('Next time: {when}', {when: whenOf(done)})}[act]();
      const next = {pause: 'resume', resume: 'pause', run: 'run'}[act];
      await again(text, `${lineOf(job.id)} [data-act="${next}"]`);
    } catch (problem) { root.inert = false; button.focus(); tell(reason(problem), true); }
  }

  // --- the form

  function open(job) {
    editing = job;
    const rhythm = job?.rhythm ?? {kind: 'once'};
    form.querySelector('h2').textContent = job ? t('Change this reminder') : t('New reminder');
    form.querySelector('form').reset();
    form.querySelector('[role="alert"]').textContent = '';
    find('#job-kind').hidden = Boolean(job);
    field('text').value = job?.text ?? find('#remind input')?.value ?? '';
    field('rhythm').querySelector('[value="other"]').hidden = rhythm.kind !== 'other';
    field('rhythm').value = rhythm.kind;
    field('time').value = rhythm.time ?? '09:00';
    field('number').value = rhythm.number ?? 1;
    field('unit').value = rhythm.unit ?? 'h';
    field('rule').value = rhythm.rule ?? '';
    field('at').value = (rhythm.kind === 'once' && (job?.next_run ?? rhythm.at) || '').slice(0, 16);
    for (const box of form.querySelectorAll('[name="day"]')) box.checked = (rhythm.days ?? [1, 2, 3, 4, 5, 6, 7]).includes(Number(box.value));
    find('#job-zone').textContent = job?.timezone ?? find('#job-zone').dataset.zone;
    showParts();
    form.showModal();
    form.dataset.began = JSON.stringify(when());
    field('text').focus();
  }

  function showParts() {
    for (const part of form.querySelectorAll('.parts')) {
      part.hidden = part.dataset.for !== field('rhythm').value;
      for (const input of part.querySelectorAll('input:not([type="checkbox"])')) input.required = !part.hidden;
    }
  }

  function when() {   // as operations take it
    const last = editing?.when.until ? {until: editing.when.until} : {};   // the last day stays
    switch (field('rhythm').value) {
      case 'once': return {at: field('at').value};
      case 'interval': return {every: `${field('number').value}${field('unit').value}`, ...last};
      case 'rule': return {cron: field('rule').value, ...last};
      case 'days': {
        const days = [...form.querySelectorAll('[name="day"]:checked')].map((box) => Number(box.value));
        const [hour, minute] = field('time').value.split(':').map(Number);
        return days.length ? {cron: `${minute} ${hour} * * ${daysOfCron(days)}`, ...last} : {};
      }
      default: return {};
    }
  }

  async function onSave(event) {
    event.preventDefault();
    const time = when(), isMoved = JSON.stringify(time) !== form.dataset.began, save = form.querySelector('.main');
    const alert = form.querySelector('[role="alert"]');
    if (!Object.keys(time).length && field('rhythm').value === 'days') { alert.textContent = t('Choose at least one day.'); return; }
    if (save.disabled) return;
    save.disabled = true;
    const text = field('text').value;
    try {
      const job = editing
        ? await page.call('schedule.edit', {id: editing.id, text, ...(isMoved ? time : {}), seen: {text: editing.text, when: editing.when}})
        : await page.call('schedule.add', {text, kind: field('kind').value, ...time});
      form.close();
      await again(t('Saved. Next time: {when}', {when: whenOf(job)}), `${lineOf(job.id)} a, ${lineOf(job.id)} [data-act="edit"]`);
    } catch (problem) { alert.textContent = reason(problem); }
    save.disabled = false;
  }

  function ask(job) {
    editing = job;
    sure.querySelector('.which').textContent = job.title;
    sure.querySelector('[role="alert"]').textContent = '';
    sure.showModal();
  }

  async function onDelete(event) {
    event.preventDefault();
    const button = sure.querySelector('.main');
    if (button.disabled) return;
    button.disabled = true;
    try {
      await page.call('schedule.remove', {id: editing.id});
      sure.close();
      said = {text: t('Deleted: {text}', {text: editing.title})}; focusOn = '#remind input';
      await page.replace(new URLSearchParams(location.search).has('job') ? '/jobs' : location.pathname + location.search);
    } catch (problem) { sure.querySelector('[role="alert"]').textContent = reason(problem); }
    button.disabled = false;
  }
}

function daysOfCron(days) {   // 0 is Sunday there
  const all = days.join('');
  return all === '1234567' ? '*' : all === '12345' ? '1-5' : days.map((day) => day % 7).join(',');
}
