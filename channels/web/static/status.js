// Status: the doctor, the log and logins at servers of tools, on request; the figures stay fresh while none of these is read.

import {make, said, withCode} from '/static/dom.js';

const FRESH = 15000, LOOKS = 2000;

export function mount(root, page) {
  const {t} = page, doctor = root.querySelector('#doctor'), log = root.querySelector('#log'), lines = log.querySelector('.lines');
  let isRead = false, watch = null;
  const timer = setInterval(() => { if (!document.hidden && !isRead && !root.contains(document.activeElement)) page.reload(); }, FRESH);

  async function asked(section, operation, show) {
    const button = section.querySelector('button'), line = section.querySelector('[role="status"]');
    isRead = true;
    button.disabled = true;
    line.textContent = t('One moment…');
    try { line.textContent = show(await page.call(operation)); } catch (problem) { line.textContent = problem.message || t('Daybook is offline'); }
    button.disabled = false;
    button.focus();
  }

  doctor.querySelector('button').onclick = () => asked(doctor, 'doctor.run', (found) => {
    const bad = found.filter((one) => !one.ok);
    const ordered = [...bad, ...found.filter((one) => one.ok)];
    doctor.querySelector('.findings').replaceChildren(...ordered.map((one) => make('li', {},
      make('span', {className: `tag ${one.ok ? 'good' : 'wrong'}`, textContent: t(one.check)}), ' ', ...withCode(said(one.message)),
      ...(one.fix && !one.ok ? [make('div', {className: 'small'}, '→ ', ...withCode(said(one.fix)))] : []))));
    if (bad.length === 1) return t('One problem, with what to do:');
    return bad.length ? t('{count} problems, each with what to do:', {count: bad.length}) : t('All is well.');
  });
  log.querySelector('button').onclick = () => asked(log, 'log.tail', (found) => {
    lines.textContent = found.join('\n');
    lines.hidden = !found.length;
    lines.scrollTop = lines.scrollHeight;
    log.querySelector('button').textContent = t('Read again');
    return found.length ? t('The newest lines:') : t('Nothing is logged yet.');
  });
  root.querySelector('#servers')?.addEventListener('click', onServer);
  return () => { clearInterval(timer); clearInterval(watch); };

  async function onServer(event) {
    const button = event.target.closest('[data-act]');
    if (!button) return;
    const server = button.closest('li'), {name, agent} = server.dataset, line = server.querySelector('[role="status"]');
    const operation = button.dataset.act, login = server.querySelector('.login');
    isRead = true;
    button.disabled = true;
    line.textContent = t('One moment…');
    try {
      const parameters = operation === 'mcp.answer' ? {address: login.querySelector('input').value} : {name, agent};
      const done = await page.call(operation, parameters);
      if (operation !== 'mcp.link') return await page.reload();
      const link = login.querySelector('a');
      link.href = done.link;
      link.textContent = t('Log in at {host}', {host: done.host});
      line.textContent = t('Open this link. It works once, within an hour.');
      login.hidden = false;
      link.focus();
      clearInterval(watch);
      watch = setInterval(() => look(name, agent), LOOKS);
    } catch (problem) {
      line.textContent = problem.message || t('Daybook is offline');
      button.disabled = false;
    }
  }

  async function look(name, agent) {   // the login ends in another window
    const known = await page.call('mcp.servers').catch(() => []);
    if (known.some((one) => one.name === name && one.agent === agent && one.login === 'done')) page.reload();
  }
}
