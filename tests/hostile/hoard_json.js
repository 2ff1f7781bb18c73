// Tries: memory by a short text in JavaScript.
// Group: its group's memory.
// Watch: the watch on memory.
// Ends: memory error timeout.

const data = [];
while (true) data.push(Buffer.alloc(1 << 22, 1));
