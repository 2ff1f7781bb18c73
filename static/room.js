document.body.classList.contains("room-page")?await import("./built-room-IHLF2XT3.js"):document.body.classList.contains("replay-page")&&await import("./built-replay-TC7YZMIC.js");
/*
Made of static/src.
*/
