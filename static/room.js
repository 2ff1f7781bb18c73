document.body.classList.contains("room-page")?await import("./built-room-P2QJR6T3.js"):document.body.classList.contains("replay-page")&&await import("./built-replay-TC7YZMIC.js");
/*
Made of static/src.
*/
