// node clients.js PORT ack:PIPE|hold:PIPE ...
// One consumer a pipe: one that acks, or one that reads no further than its first event until a line comes on standard
// input, acks nothing and never stops talking. Prints what they get:
// "line PIPE TEXT", "event PIPE ID SHA256", "closed PIPE CODE", "failed PIPE WHY".
const { createHash } = require('crypto');
const WebSocket = require('ws');

const [port, ...consumers] = process.argv.slice(2);
const waiting = [];
let goOn = false;
process.stdin.once('data', () => {
  goOn = true;
  waiting.forEach((socket) => socket.resume());
});

for (const consumer of consumers) {
  const [mode, pipe] = consumer.split(':');
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
  let noise;
  socket.on('open', () => {
    socket.send(`BIND:${pipe}`);
    if (mode === 'hold') {
      noise = setInterval(() => socket.readyState === WebSocket.OPEN && socket.send('ACK:999999'), 20);
    }
  });
  socket.on('message', (data, binary) => {
    if (!binary) {
      console.log(`line ${pipe} ${data}`);
      return;
    }
    const id = data.readBigInt64BE(0);
    console.log(`event ${pipe} ${id} ${createHash('sha256').update(data.subarray(8)).digest('hex')}`);
    if (mode === 'ack') {
      socket.send(`ACK:${id}`);
    } else if (!goOn) {
      socket.pause();
      waiting.push(socket);
    }
  });
  socket.on('close', (code) => {
    clearInterval(noise);
    console.log(`closed ${pipe} ${code}`);
  });
  socket.on('error', (e) => console.log(`failed ${pipe} ${e.message}`));
}
