// The page's sentences in the browser's language; the English ones are the keys of texts-<language>.json.

const language = document.documentElement.lang;
let table = {};
if (language !== 'en') {
  try { table = await (await fetch(`/static/texts-${language}.json`)).json(); } catch { /* English is better than nothing */ }
}

export function t(english, values = {}) {
  const text = Object.hasOwn(table, english) ? table[english] : english;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? values[name] : whole));
}
