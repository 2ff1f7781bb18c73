// Tries: the network, from JavaScript.
// Group: its namespace of networks.
// Watch: its namespace of networks.
// Ends: ok.

const socket = require("net").connect(5432, "127.0.0.1");
socket.on("connect", () => console.log("escaped"));
socket.on("error", () => console.log("refused"));
