// Tries: to start so many threads of JavaScript as it can.
// Group: its group's memory.
// Watch: the watch on memory.
// Ends: error memory timeout.

const { Worker } = require("worker_threads");
for (let number = 0; number < 500; number++) new Worker("while (true) {}", { eval: true }).on("error", () => {});
