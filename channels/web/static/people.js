// People: approved or declined, with one press.

const FRESH = 15000;
let said = null;

export function mount(root, page) {
  const {t} = page, find = (selector) => root.querySelector(selector), dialog = find('#revoke');
  let account = null;

  if (said) { tell(said); find('.ask button')?.focus(); }
  said = null;
  root.addEventListener('click', onClick);
  dialog.addEventListener('submit', onRevoke);
  const timer = setInterval(() => { if (!document.hidden && !dialog.open && !root.contains(document.activeElement)) page.reload(); }, FRESH);
  return () => clearInterval(timer);

  function tell(text, isWrong = false) {
    const line = find('#people-said');
    line.textContent = text;
    line.className = `notice ${isWrong ? 'wrong' : 'good'}`;
    line.hidden = false;
    line.scrollIntoView({block: 'nearest'});
  }

  async function act(operation, parameters, sentence) {   // throws what `call` throws
    const done = await page.call(operation, parameters);
    said = sentence ?? done.message;
    await page.reload();
  }

  async function onClick(event) {
    const button = event.target.closest('[data-act]');
    if (!button) return;
    const operation = button.dataset.act, ask = button.closest('.ask');
    if (operation === 'close') return dialog.close();
    if (operation === 'revoke') {
      account = button.closest('[data-account]').dataset;
      find('#revoke .which').textContent = `${account.name} (${account.account})`;
      find('#revoke [role="alert"]').textContent = '';
      return dialog.showModal();
    }
    const name = ask.querySelector('.title').textContent;
    root.inert = true;   // what is pressed until the view is read again would be lost
    try {
      if (operation === 'pair.approve') await act(operation, {code: ask.dataset.code}, t('{name} may write to me now, and was told so.', {name}));
      else if (operation === 'pair.decline') await act(operation, {code: ask.dataset.code}, t('{name} was declined.', {name}));
      else await act(operation, {id: ask.dataset.id, answer: button.dataset.answer});
    } catch (problem) {
      root.inert = false;
      button.focus();
      tell(problem.message || t('Daybook is offline'), true);
    }
  }

  async function onRevoke(event) {
    event.preventDefault();
    const button = dialog.querySelector('.main');
    if (button.disabled) return;
    button.disabled = true;
    try {
      await page.call('pair.revoke', {id: account.account});
      dialog.close();
      said = t('{name} can no longer write to me.', {name: account.name});
      await page.reload();
    } catch (problem) { find('#revoke [role="alert"]').textContent = problem.message || t('Daybook is offline'); }
    button.disabled = false;
  }
}
