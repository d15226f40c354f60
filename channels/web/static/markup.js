// Colours for code and formulas as MathML: asked for when they come into sight, and the text stays where there is nothing better.

import {JSON_TYPE, ask} from '/static/net.js';

const SELECTOR = 'pre[data-language] > code, .maths';
const seen = new IntersectionObserver((changes) => {
  for (const {target, isIntersecting} of changes) if (isIntersecting) { seen.unobserve(target); draw(target); }
}, {rootMargin: '300px'});

export function drawMarkup(root) {
  for (const one of root.querySelectorAll(SELECTOR)) seen.observe(one);
  for (const one of root.querySelectorAll('pre')) if (!one.querySelector('button')) one.tabIndex = 0;   // long lines scroll by keyboard, too
}

async function draw(element) {
  const text = element.textContent, isCode = element.matches('code');
  const wanted = isCode ? {kind: 'code', text, language: element.parentElement.dataset.language} : {kind: element.dataset.kind, text};
  const answer = await ask('/markup', {method: 'POST', headers: JSON_TYPE, body: JSON.stringify(wanted)});
  if (!answer?.ok) return;
  const {html} = await answer.json();
  const selection = getSelection();
  if (!html || element.textContent !== text || (!selection.isCollapsed && element.contains(selection.anchorNode))) return;
  element.innerHTML = html;   // made by markup.py: spans with classes, or the elements of MathML
  element.classList.add('drawn');
}
