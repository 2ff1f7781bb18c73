// Where the network cannot be reached, the page of a running assessment and its files come from what the page kept.

const KEPT = "take";
const FILES = ["script", "style", "image"];

addEventListener("install", () => skipWaiting());
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode === "navigate") event.respondWith(page(request));
  else if (FILES.includes(request.destination)) event.respondWith(fetch(request).catch(() => kept(request)));
});

// A page that comes is kept by its own script, where its assessment runs; what was kept before is of no use then.
async function page(request) {
  try {
    const response = await fetch(request);
    await caches.delete(KEPT);
    return response;
  } catch {
    return kept(request);
  }
}

async function kept(request) {
  return (await caches.match(request.url, { ignoreVary: true })) ?? Response.error();
}
