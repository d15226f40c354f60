// Before the first paint: the colours that this browser chose.
try { document.documentElement.dataset.theme = localStorage.getItem('daybook-theme') ?? ''; } catch { /* by system */ }
