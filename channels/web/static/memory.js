// Memory: searching, editing with a check for changes meanwhile, undoing.

export function mount(root, page) {
  root.querySelector('form[role="search"]')?.addEventListener('submit', (event) => {
    event.preventDefault();
    const words = new FormData(event.target).get('q').trim();
    page.go(words ? `/memory?q=${encodeURIComponent(words)}` : '/memory');
  });
  const undo = root.querySelector('[data-undo]');
  if (undo) undo.onclick = () => act(root, undo, async () => {
    await page.call('memory.restore', {id: undo.dataset.undo});
    page.reload();
  }, page);
  const editor = root.querySelector('.editor');
  return editor ? edit(root, editor, page) : null;
}

async function act(root, button, work, page) {
  const wrong = root.querySelector('[role="alert"]');
  wrong.hidden = true;
  button.disabled = true;
  try { await work(); } catch (problem) {
    wrong.textContent = problem.message || page.t('Daybook is offline');
    wrong.hidden = false;
  }
  button.disabled = false;
}

function edit(root, editor, page) {
  const text = editor.elements.text, save = editor.querySelector('button.main'), began = text.value;
  const isChanged = () => text.value !== began;
  const warn = (event) => { if (isChanged()) event.preventDefault(); };
  addEventListener('beforeunload', warn);
  editor.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') { event.preventDefault(); editor.requestSubmit(); }
  });
  editor.addEventListener('submit', (event) => {
    event.preventDefault();
    act(root, save, async () => {
      const {path, hash} = editor.dataset;
      const done = await page.call('memory.write', {path, hash, text: text.value});
      if (done.saved) { removeEventListener('beforeunload', warn); page.replace(`/memory?path=${encodeURIComponent(path)}`); return; }
      editor.dataset.hash = done.hash;
      const conflict = editor.querySelector('.conflict');
      conflict.querySelector('pre').textContent = done.text;
      conflict.hidden = false;
      conflict.scrollIntoView({block: 'nearest'});
    }, page);
  });
  text.focus();
  text.setSelectionRange(0, 0);
  return () => removeEventListener('beforeunload', warn);
}
