// What the candidate answers: kept on this device with every keystroke, then sent to the server.
//
// One record per case, {value, language, editedAt, saved, savedAt}, in memory and in localStorage. Other tabs of this browser see
// each record as it is written (storage events), so they show it and never send something older.

const DEBOUNCE_MS = 600;
const LONGEST_WAIT_MS = 4000; // somebody who types without a pause is saved too
const OTHER_TAB_MS = 5000; // leave a tab the time to send what was typed in it
const BACKOFF_MS = [1000, 2000, 4000, 8000, 15000];
const SAME_DEVICE_MS = 30000; // a save of our own may reach the server this long after the edit

export const isEmpty = (value) => value === null || value === "" || (Array.isArray(value) && !value.length);

const moment = (iso) => (iso ? Date.parse(iso) : 0);

export function makeAnswers({ token, api, clock, toAnswer, onChange, onState, onClosed }) {
  const prefix = `take:${token}:`;
  const kept = openStore();
  const records = new Map();
  // Saves of all tabs go one after the other, so the server's last is the newest.
  const inTurn = (work) => (navigator.locks ? navigator.locks.request(prefix, work) : work());
  let timer = null;
  let dueAt = 0;
  let firstEditAt = 0;
  let failures = 0;
  let flushing = null;
  let over = false;

  function load(cases) {
    for (const one of cases) {
      const known = records.get(one.assessment_case_id) ?? read(one.assessment_case_id);
      const savedAt = moment(one.saved_at);
      // What was typed here and not sent yet stays, unless another device has clearly saved later; and an answer that
      // was on its way while we saved is older than what we have.
      const keep = known && (known.saved ? savedAt <= moment(known.savedAt) : savedAt <= known.editedAt + SAME_DEVICE_MS);
      const next = keep ? known : { value: one.answer, language: one.languages.length > 1 ? one.language : undefined, editedAt: savedAt, saved: true, savedAt: one.saved_at };
      const isNews = records.has(one.assessment_case_id) && !keep;
      records.set(one.assessment_case_id, next);
      if (isNews) onChange(one.assessment_case_id);
    }
    if (unsaved().length) schedule(0);
    tell();
  }

  function edit(id, value) {
    if (over) return;
    records.set(id, { ...records.get(id), value, editedAt: clock.now(), saved: false, refused: undefined });
    write(id);
    firstEditAt ||= Date.now();
    if (failures) tell(); // the retry is already on its way
    else schedule(Math.min(clock.nearEnd() ? 100 : DEBOUNCE_MS, firstEditAt + LONGEST_WAIT_MS - Date.now()));
    tell();
  }

  // The language of a program goes with it; chosen before anything is written, it waits for that.
  function choose(id, language) {
    const record = records.get(id);
    record.language = language;
    if (isEmpty(record.value)) write(id);
    else edit(id, record.value);
  }

  const unsaved = () => [...records].filter(([, one]) => !one.saved && !one.refused).map(([id]) => id);

  function schedule(wait) {
    clearTimeout(timer);
    dueAt = Date.now() + Math.max(0, wait);
    timer = setTimeout(flush, Math.max(0, wait));
  }

  // Send what is unsaved now; true when nothing is left.
  function flush() {
    clearTimeout(timer);
    flushing ??= inTurn(sendAll).finally(() => {
      flushing = null;
    });
    return flushing;
  }

  async function sendAll() {
    firstEditAt = 0;
    for (const id of unsaved()) {
      if (over) return true;
      const fresh = read(id);
      if (fresh?.saved && fresh.editedAt >= records.get(id).editedAt) {
        records.set(id, fresh); // another tab was quicker
        continue;
      }
      const { value, language, editedAt } = records.get(id);
      const { answer, fault } = toAnswer(id, value);
      if (fault) {
        refuse(id, editedAt, fault);
        continue;
      }
      const result = await api.save(id, answer, language);
      if (result.ok) confirm(id, editedAt, result);
      else if (result.kind === "refused") refuse(id, editedAt, result.message);
      else if (result.kind === "closed") return onClosed();
      else return postpone(result.waitMs);
    }
    failures = 0;
    if (unsaved().length && Date.now() >= dueAt) schedule(DEBOUNCE_MS);
    tell();
    return !unsaved().length;
  }

  function confirm(id, editedAt, result) {
    failures = 0;
    clock.sync(result.body.saved_at, result.sentAt, result.receivedAt);
    if (!over) clock.follow(result.body.deadline_at);
    const one = records.get(id);
    one.savedAt = result.body.saved_at;
    if (one.editedAt === editedAt) one.saved = true;
    write(id);
    tell();
  }

  function refuse(id, editedAt, message) {
    if (records.get(id).editedAt === editedAt) records.get(id).refused = message;
    tell();
  }

  function postpone(waitMs = 0) {
    const wait = BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)];
    schedule(Math.max(waitMs, wait * (0.8 + 0.4 * Math.random())));
    tell();
    return false;
  }

  // Send until nothing is left, or the server cannot be reached.
  async function settle() {
    for (let turn = 0; turn < 3 && unsaved().length && !over; turn += 1) {
      await flush();
      if (failures) break;
    }
    return over || !unsaved().length;
  }

  function tell() {
    const all = [...records.values()];
    const refused = all.some((one) => one.refused);
    const waiting = unsaved().length > 0;
    if (refused) onState("problem");
    else if (waiting && (failures || !navigator.onLine)) onState("offline");
    else if (waiting) onState("saving");
    else onState(all.some((one) => one.savedAt) ? "saved" : "idle");
  }

  addEventListener("storage", (event) => {
    if (!event.key?.startsWith(prefix) || event.newValue === null || over) return;
    const id = event.key.slice(prefix.length);
    if (id === "over") return onClosed();
    const [mine, theirs] = [records.get(id), JSON.parse(event.newValue)];
    if (!mine || (!mine.saved && mine.editedAt > theirs.editedAt)) return;
    records.set(id, theirs);
    onChange(id);
    if (!theirs.saved) schedule(OTHER_TAB_MS);
    tell();
  });
  addEventListener("online", () => {
    failures = 0;
    if (unsaved().length) flush();
  });
  addEventListener("offline", tell);
  // The page may be gone before its turn comes; the record on this device stays until a save is confirmed.
  addEventListener("pagehide", () => {
    for (const id of over ? [] : unsaved()) {
      const { answer, fault } = toAnswer(id, records.get(id).value);
      if (!fault) api.save(id, answer, records.get(id).language);
    }
  });

  function read(id) {
    const text = kept.getItem(prefix + id);
    return text ? JSON.parse(text) : undefined;
  }

  function write(id) {
    const { refused, ...record } = records.get(id);
    try {
      kept.setItem(prefix + id, JSON.stringify(record));
    } catch {
      // The device's storage is full: the record in memory still gets sent.
    }
  }

  function end() {
    over = true;
    clearTimeout(timer);
    for (const id of records.keys()) kept.removeItem(prefix + id);
    kept.setItem(`${prefix}over`, "1");
  }

  return { load, edit, choose, flush, settle, end, unsaved, get: (id) => records.get(id) };
}

// A browser may forbid storage; then the page works as before, without the net.
function openStore() {
  try {
    localStorage.getItem("take");
    return localStorage;
  } catch {
    const memory = new Map();
    return { getItem: (key) => memory.get(key) ?? null, setItem: (key, text) => memory.set(key, text), removeItem: (key) => memory.delete(key) };
  }
}
