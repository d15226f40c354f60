// Shows the shell while Daybook is down: the newest one that came, where the network has none.

const KEPT = 'daybook-shell';
const FILES = ['/static/base.css', '/static/shell.css', '/static/chat.css', '/static/markup.css', '/static/theme.js', '/static/app.js', '/static/chat.js',
  '/static/dom.js', '/static/markup.js', '/static/net.js', '/static/texts.js', '/static/versions.js', '/static/zone.js', '/static/icon.svg'];

self.addEventListener('install', (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
  const {request} = event, {origin, pathname} = new URL(request.url);
  const isPage = request.mode === 'navigate' && !pathname.startsWith('/files/') && pathname !== '/login/mcp';
  if (request.method !== 'GET' || origin !== location.origin || !(isPage || pathname.startsWith('/static/'))) return;
  event.respondWith(answered(request, isPage));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(self.clients.matchAll({type: 'window'}).then((open) => (open.length ? open[0].focus() : self.clients.openWindow('/'))));
});

async function keepShell() {
  const kept = await caches.open(KEPT);
  await kept.addAll(FILES);
  await keep(kept, '/', await fetch('/'), true);
}

async function keep(kept, key, answer, isPage) {
  if (!(isPage ? [200, 401].includes(answer.status) : answer.ok)) return;   // the shell comes with 401 before the login
  await kept.put(key, new Response(await answer.blob(), {headers: answer.headers}));
}

async function answered(request, isPage) {
  const kept = await caches.open(KEPT);
  try {
    const answer = await fetch(request);
    await keep(kept, isPage ? '/' : request, answer.clone(), isPage);
    return answer;
  } catch (problem) {
    const found = await kept.match(isPage ? '/' : request);
    if (found) return found;
    throw problem;
  }
}
