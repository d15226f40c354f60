// Requests to the gateway. A session has two halves (auth.py): the cookie, and the page key, which is kept here and goes
// with every request.

const PAGE_KEY = 'daybook-page-key';
let keyForNow = '';   // where the browser keeps nothing

export const JSON_TYPE = {'Content-Type': 'application/json'};

export function pageKey() { try { return localStorage.getItem(PAGE_KEY) ?? ''; } catch { return keyForNow; } }

export function keepKey(key) {
  keyForNow = key;
  try { if (key) localStorage.setItem(PAGE_KEY, key); else localStorage.removeItem(PAGE_KEY); } catch { /* for now */ }
}

export function whenKeyChanges(act) { addEventListener('storage', (event) => { if (event.key === PAGE_KEY) act(); }); }

export function ask(path, options = {}) {   // null: no answer
  const headers = {...options.headers, 'Daybook-Page-Key': pageKey()};
  return fetch(path, {...options, headers}).catch(() => null);
}

export class Failed extends Error {}

export async function call(operation, parameters = {}) {   // throws Failed with a sentence
  const answer = await ask(`/call/${operation}`, {method: 'POST', headers: JSON_TYPE, body: JSON.stringify(parameters)});
  if (!answer) throw new Failed('');
  if (!answer.ok) throw new Failed((await answer.text()).trim());
  return (await answer.json()).result;
}
