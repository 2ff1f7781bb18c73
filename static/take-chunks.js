// What is recorded is kept on this device first, then sent part by part in its order, however often the network goes.

const BASE = "take-recordings";
const MOST_BYTES = 300e6; // on the device; a network that is away for so long ends the recording
const PAUSES_MS = [1000, 2000, 5000, 10000, 30000];

// `onFull` is told where there is no room, on the device or there; `onOver` where the session has ended meanwhile.
export async function openChunks({ token, api, onFull = () => {}, onOver = () => {} }) {
  const shelf = await openShelf(token);
  const dead = new Set(); // tracks of which a part was refused: what follows would be of no use
  let [bytes, waiting] = await shelf.sums();
  let [sending, full, tries] = [null, false, 0];
  let wake = () => {};

  addEventListener("online", () => wake());

  async function add(chunk) {
    if (full || dead.has(chunk.track)) return;
    if (bytes + chunk.content.byteLength > MOST_BYTES) return end();
    try {
      await shelf.put({ ...chunk, token });
    } catch {
      return end();
    }
    bytes += chunk.content.byteLength;
    waiting += 1;
    send();
  }

  function end() {
    if (full) return;
    full = true;
    onFull();
  }

  const send = () => (sending ??= drain().finally(() => {
    sending = null;
  }));

  async function drain() {
    for (let [id, chunk] = await shelf.first(); chunk; [id, chunk] = await shelf.first()) {
      const result = dead.has(chunk.track) ? { ok: true } : await api.keep(chunk);
      if (!result.ok && result.kind === "offline") {
        await pause(result.waitMs || PAUSES_MS[Math.min(tries++, PAUSES_MS.length - 1)]);
        continue;
      }
      tries = 0;
      if (!result.ok) {
        dead.add(chunk.track);
        if (result.code === "LIMIT_REACHED") end();
      }
      if (result.body?.status === "completed") onOver();
      await shelf.remove(id);
      bytes -= chunk.content.byteLength;
      waiting -= 1;
    }
  }

  const pause = (ms) =>
    new Promise((resolve) => {
      wake = resolve;
      setTimeout(resolve, ms);
    });

  return { add, send, isEmpty: () => waiting <= 0 };
}

// A browser may forbid storage, as some do in private windows: then the parts last as long as the page.
async function openShelf(token) {
  try {
    return inBase(await open(), token);
  } catch {
    return inMemory();
  }
}

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

function open() {
  const request = indexedDB.open(BASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore("chunks", { autoIncrement: true }).createIndex("token", "token");
  return done(request);
}

function inBase(base, token) {
  const store = (mode) => base.transaction("chunks", mode).objectStore("chunks");
  const mine = () => store("readonly").index("token");
  return {
    put: (chunk) => {
      const shelf = store("readwrite");
      const kept = done(shelf.add(chunk));
      shelf.transaction.commit?.(); // at once: the page may be going
      return kept;
    },
    remove: (id) => done(store("readwrite").delete(id)),
    first: async () => {
      const cursor = await done(mine().openCursor(IDBKeyRange.only(token)));
      return cursor ? [cursor.primaryKey, cursor.value] : [null, null];
    },
    sums: async () => {
      let [bytes, count] = [0, 0];
      await new Promise((resolve, reject) => {
        const request = mine().openCursor(IDBKeyRange.only(token));
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          const cursor = request.result;
          if (!cursor) return resolve();
          bytes += cursor.value.content.byteLength;
          count += 1;
          cursor.continue();
        };
      });
      return [bytes, count];
    },
  };
}

function inMemory() {
  const chunks = new Map();
  let last = 0;
  return {
    put: async (chunk) => chunks.set(++last, chunk),
    remove: async (id) => chunks.delete(id),
    first: async () => chunks.entries().next().value ?? [null, null],
    sums: async () => [0, 0],
  };
}
