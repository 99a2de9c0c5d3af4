// Consumes a pipe in dialect 2: in browsers, in Node 22 and newer, and in older ones with the package ws.
const WebSocket = globalThis.WebSocket ?? (await import("ws")).WebSocket;
const FOR_GOOD = [1007, 1009, 4001, 4003, 4004, 4409, 4410];

function* records(frame) {
  const view = new DataView(frame);
  for (let at = 0; at < frame.byteLength; ) {
    const length = view.getUint32(at + 20);
    yield { id: view.getBigInt64(at), delivery: view.getUint16(at + 16), bytes: new Uint8Array(frame, at + 24, length) };
    at += 24 + length;
  }
}

/** Calls handle(event) for one event after the other; one that throws comes again. Resolves at the end of the pipe. */
export function consume(url, pipe, handle, options = {}) {
  const query = new URLSearchParams(options).toString().replaceAll("+", "%20");
  const done = []; // handled, and the ack not sent yet: it counts on the next connection too
  let failures = 0;
  return new Promise((resolve, reject) => {
    const connect = () => {
      const socket = new WebSocket(url, "tablet-relay.v2");
      let work = Promise.resolve();
      const alive = () => socket.readyState === WebSocket.OPEN;
      const ack = () => { while (alive() && done.length) socket.send("ACK:" + done.splice(0, 500).join()); };
      const takeAll = async (frame) => {
        for (const event of records(frame)) {
          if (!alive()) break; // what was not begun comes again
          try { await handle(event); done.push(event.id); }
          catch (e) { if (alive()) socket.send(`NACK:${event.id}:1000:${e.message}`); }
        }
        ack();
      };
      socket.binaryType = "arraybuffer";
      socket.onopen = () => socket.send(`BIND:${encodeURIComponent(pipe)}?${query}`);
      socket.onmessage = ({ data }) => {
        if (typeof data !== "string") work = work.then(() => takeAll(data));
        else if (data.startsWith("READY:")) { failures = 0; ack(); }
        else if (data === "END") { socket.onclose = null; socket.close(1000); resolve(); }
        else console.error(data);
      };
      let over = false;
      socket.onerror = () => setTimeout(() => socket.onclose?.({ code: 1006 }), 100); // if no close follows, as in Node 20
      socket.onclose = ({ code, reason }) => {
        if (over) return;
        over = true;
        if (FOR_GOOD.includes(code)) reject(new Error(`${code} ${reason}`));
        else work.then(() => setTimeout(connect, Math.random() * Math.min(10_000, 100 * 2 ** failures++)));
      };
    };
    connect();
  });
}
