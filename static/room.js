document.body.classList.contains("room-page")?await import("./built-room-37FFNXI7.js"):document.body.classList.contains("replay-page")&&await import("./built-replay-FAVA7O6S.js");
/*
Made of static/src.
*/
