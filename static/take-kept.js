// The running assessment's page for a reload without network: one page at a time, until it is submitted.

const KEPT = "take";
const isPossible = () => isSecureContext && "serviceWorker" in navigator && "caches" in window;

// Whether this page came from what was kept: its data are of that time, and so is the clock in them.
export const isKept = "kept" in document.documentElement.dataset;

export async function keepPage() {
  if (!isPossible()) return;
  try {
    await navigator.serviceWorker.register("/static/take-worker.js", { scope: "/take/" });
    const response = await fetch(location.pathname, { cache: "no-store", signal: AbortSignal.timeout(30_000) });
    if (!response.ok) return;
    const headers = new Headers(response.headers); // the page's policy is kept with it
    for (const name of ["Content-Encoding", "Content-Length"]) headers.delete(name);
    const text = (await response.text()).replace("<html", "<html data-kept");
    const files = performance.getEntriesByType("resource").map((one) => one.name);
    const cache = await caches.open(KEPT);
    await cache.put(location.pathname, new Response(text, { headers }));
    await cache.addAll([...new Set(files)].filter((url) => /^\/(static|brand)\//.test(new URL(url).pathname)));
  } catch {
    // A reload without network shows the browser's own page; the answers are on this device all the same.
  }
}

export const forgetPage = () => isPossible() && caches.delete(KEPT).catch(() => {});
