// Versions of a message: changing one and sending it again, asking for another answer, and reading what was there before.

import {icon, make} from '/static/dom.js';
import {t} from '/static/texts.js';

function small(name, label) { return make('button', {type: 'button', className: 'quiet', title: label, ariaLabel: label}, icon(name)); }

export function editButton(entry, resend) {   // opens a field in place of the message
  const button = small('edit', t('Edit message'));
  button.onclick = () => openEditor(button.closest('.message'), entry, resend, button);
  return button;
}

export function againButton(ask) {
  const button = small('again', t('Answer again'));
  button.classList.add('again');
  button.onclick = () => { button.disabled = true; setTimeout(() => { button.disabled = false; }, 2000); ask(); };
  return button;
}

function openEditor(message, entry, resend, button) {
  const body = message.querySelector(':scope > .body');
  const field = make('textarea', {value: entry.text, rows: 1, ariaLabel: t('New version of the message'), dir: 'auto'});
  const form = make('form', {className: 'edit'}, field, make('div', {className: 'toolbar'},
    make('button', {type: 'button', textContent: t('Cancel'), onclick: close}), make('button', {className: 'main', textContent: t('Send')})));
  const fit = () => { field.style.height = 'auto'; field.style.height = `${field.scrollHeight + 2}px`; };
  function close() { form.remove(); body.hidden = false; message.classList.remove('editing'); button.focus(); }
  form.onsubmit = (event) => {
    event.preventDefault();
    if (!field.value.trim() && !entry.files.length) return;
    close();
    resend(entry.id, field.value);
  };
  field.oninput = fit;
  field.onkeydown = (event) => {
    if (event.key === 'Escape') { event.preventDefault(); close(); }
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && matchMedia('(hover: hover)').matches) {
      event.preventDefault(); form.requestSubmit();
    }
  };
  body.hidden = true;
  message.classList.add('editing');
  body.after(form);
  fit();
  field.focus();
}

export function earlierButton(entry, ask) {   // `ask` fetches the earlier version; `showEarlier` shows it
  const button = make('button', {type: 'button', className: 'quiet earlier', textContent: t('Earlier version'), ariaExpanded: 'false'});
  button.onclick = () => {
    const shown = button.parentElement.querySelector(':scope > .version');
    if (shown) { shown.remove(); button.ariaExpanded = 'false'; } else ask(entry.id);
  };
  return button;
}

export function showEarlier(message, elements) {
  const button = message.querySelector(':scope > .earlier');
  if (!button || message.querySelector(':scope > .version')) return;
  button.ariaExpanded = 'true';
  button.after(make('div', {className: 'version'}, ...elements));
}
