// The one script of the room's pages and of those that play it again.
if (document.body.classList.contains("room-page")) await import("./room.js");
else if (document.body.classList.contains("replay-page")) await import("./replay.js");
