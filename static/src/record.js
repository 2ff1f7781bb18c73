// What one does on a page, as events: passwords are never among them, pictures of a camera neither.

import { record as start } from "@rrweb/record";

export const record = (emit) =>
  start({
    emit,
    maskInputOptions: { password: true },
    blockSelector: "video",
    sampling: { mousemove: 100, scroll: 200, media: 800 },
    recordCanvas: false,
    collectFonts: false,
    errorHandler: () => true, // the test goes on
  });
