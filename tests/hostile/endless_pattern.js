// Tries: the processor without end, in a pattern.
// Group: the clock.
// Watch: the clock.
// Ends: timeout.

/^(a+)+$/.test("a".repeat(60) + "b");
