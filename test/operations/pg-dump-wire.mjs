// The thread of runPgDump() that holds the connection: passes on what pg_dump sends, and hands over each answer when it
// is whole. state[0] is 0 while pg_dump waits, 1 for a part of an answer and 2 for its last part; state[1] its length.
import { connect } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const { shared, hostname, port } = workerData;
const state = new Int32Array(shared, 0, 2);
const area = new Uint8Array(shared, 8);
const socket = connect(port, hostname);
let answer = Buffer.alloc(0);

/** Whether the server waits after these messages: ReadyForQuery, a question of the log-in, or an error that ends it. */
function isWhole() {
  let at = 0;
  let waits = false;
  while (at + 5 <= answer.length) {
    const type = String.fromCharCode(answer[at]);
    const isQuestion = type === "R" && ![0, 12].includes(answer.readInt32BE(at + 5));
    waits = type === "Z" || isQuestion;
    at += answer.readInt32BE(at + 1) + 1;
  }
  return waits && at === answer.length;
}

function handOver() {
  for (let sent = 0; sent < answer.length; ) {
    const part = answer.subarray(sent, sent + area.length);
    area.set(part);
    sent += part.length;
    const value = sent === answer.length ? 2 : 1;
    Atomics.store(state, 1, part.length);
    Atomics.store(state, 0, value);
    Atomics.notify(state, 0);
    Atomics.wait(state, 0, value);
  }
  answer = Buffer.alloc(0);
}

socket.on("data", (chunk) => {
  answer = Buffer.concat([answer, chunk]);
  if (isWhole()) handOver();
});
parentPort.on("message", (message) => socket.write(message));
