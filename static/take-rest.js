// A session that is over: what this device still holds of its recording is sent.

import { connect } from "./take-api.js";
import { openChunks } from "./take-chunks.js";

const told = document.getElementById("done-recording");
const token = decodeURIComponent(location.pathname.split("/").filter(Boolean).at(-1));
const chunks = await openChunks({ token, api: connect(token) });
if (!chunks.isEmpty()) {
  told.textContent = told.dataset.sending;
  told.hidden = false;
  await chunks.send();
  told.textContent = told.dataset.sent;
}
