document.body.classList.contains("room-page")?await import("./built-room-2JF6ZKL3.js"):document.body.classList.contains("replay-page")&&await import("./built-replay-QR6BG6UA.js");
/*
Made of static/src.
*/
