// The undo of each program outlives a reload: the editors' states are kept for this tab when the page goes.

import { attempt } from "./take-storage.js";

export function makeUndo(token, views) {
  const prefix = `take-undo:${token}:`;

  addEventListener("pagehide", () => {
    for (const [id, view] of views) {
      const state = view.keep();
      if (state) attempt(() => sessionStorage.setItem(prefix + id, JSON.stringify(state)));
    }
  });

  return {
    get: (id) => attempt(() => JSON.parse(sessionStorage.getItem(prefix + id))),
    end: () => {
      views.clear();
      attempt(() => Object.keys(sessionStorage).filter((key) => key.startsWith(prefix)).forEach((key) => sessionStorage.removeItem(key)));
    },
  };
}
