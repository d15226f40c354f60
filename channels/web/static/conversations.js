// Conversations: searching, going back to one, naming and archiving it.

export function mount(root, page) {
  const {t} = page, find = (selector) => root.querySelector(selector);
  find('form[role="search"]')?.addEventListener('submit', (event) => {
    event.preventDefault();
    const words = new FormData(event.target).get('q').trim();
    page.go(words ? `/conversations?q=${encodeURIComponent(words)}` : '/conversations');
  });
  const fresh = find('[data-new]');
  if (fresh) fresh.onclick = () => { page.say('/new'); page.go('/'); };
  const back = find('[data-continue]');
  if (back) back.onclick = () => { page.say(`/switch ${back.dataset.continue}`); page.go('/'); };
  const title = find('#conversation-title');
  if (title) change(title.dataset.id);

  function change(id) {
    const form = find('#rename'), field = form.elements.title, rename = find('[data-rename]'), archive = find('[data-archive]');
    const show = (on) => { form.hidden = !on; if (on) field.select(); else rename.focus(); };
    rename.onclick = () => show(true);
    form.querySelector('[type="button"]').onclick = () => { form.reset(); show(false); };
    form.onkeydown = (event) => { if (event.key === 'Escape') { form.reset(); show(false); } };
    form.onsubmit = (event) => { event.preventDefault(); act('sessions.rename', {id, title: field.value}, () => page.reload()); };
    archive.onclick = () => act('sessions.archive', {id, undo: !archive.dataset.archive}, () => page.go('/conversations'));
  }

  async function act(operation, parameters, then) {
    root.inert = true;
    const wrong = find('#conversation-wrong');
    try {
      await page.call(operation, parameters);
      wrong.hidden = true;
      await then();
    } catch (problem) {
      wrong.textContent = problem.message || t('Daybook is offline');
      wrong.hidden = false;
    }
    root.inert = false;
  }
}
