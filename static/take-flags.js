// What a candidate wants to look at again, kept on this device; other tabs of this browser see it at once.

import { attempt } from "./take-storage.js";

export function makeFlags(token, onChange) {
  const key = `take-flags:${token}`;
  let flagged = read(key);

  addEventListener("storage", (event) => {
    if (event.key !== key) return;
    flagged = read(key);
    onChange();
  });

  return {
    has: (id) => flagged.has(id),
    // Says whether the case is flagged now.
    toggle: (id) => {
      if (!flagged.delete(id)) flagged.add(id);
      attempt(() => localStorage.setItem(key, JSON.stringify([...flagged])));
      onChange();
      return flagged.has(id);
    },
    end: () => attempt(() => localStorage.removeItem(key)),
  };
}

const read = (key) => new Set(JSON.parse(attempt(() => localStorage.getItem(key)) ?? "[]"));
