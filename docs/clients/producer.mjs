// Publishes to a pipe in dialect 2, each event once: in browsers, in Node 22 and newer, and in older ones with the package ws.
const WebSocket = globalThis.WebSocket ?? (await import("ws")).WebSocket;
const FOR_GOOD = [1007, 1009, 4001, 4003, 4004, 4409, 4410];
const FOR_NOW = ["PIPE_FULL", "STORAGE_FULL", "PIPE_FAILED", "BUSY", "STOPPING", "OUT_OF_SEQUENCE"];

/** Returns publish(bytes), which resolves to the event's sequence once it is durable, and close(). */
export function produce(url, pipe, producer, type = "json") {
  const waiting = []; // to be sent, or to be sent again
  const sent = []; // not answered
  let socket, failures = 0, next = 0, credit = 0, ready = false, closed = false;
  const pump = () => {
    while (ready && waiting.length && sent.length < credit) {
      const event = waiting.shift();
      event.sequence ||= next++;
      new DataView(event.frame.buffer).setBigInt64(0, BigInt(event.sequence));
      sent.push(event);
      socket.send(event.frame);
    }
  };
  const storedUpTo = (last, events) => { while (events[0]?.sequence <= last) { const e = events.shift(); e.resolve(e.sequence); } };
  const lines = {
    READY(text) { // what it has not stored goes again, behind the last that it has
      const answer = JSON.parse(text);
      waiting.unshift(...sent.splice(0));
      storedUpTo(answer.last, waiting);
      ({ credit } = answer); next = answer.last + 1; ready = true;
      for (const event of waiting) if (event.sequence) event.sequence = next++;
    },
    STORED(text) { failures = 0; storedUpTo(Number(text), sent); },
    REJECTED(text) {
      const colon = text.indexOf(":"), why = JSON.parse(text.slice(colon + 1));
      if (FOR_NOW.includes(why.code)) { ready = false; socket.close(1000); } // the next READY says where to go on
      else sent.splice(sent.findIndex((e) => e.sequence == text.slice(0, colon)), 1)[0].reject(new Error(why.message));
    },
  };
  const connect = () => {
    socket = new WebSocket(url, "tablet-relay.v2");
    socket.onopen = () => socket.send(`PUBLISH:${encodeURIComponent(pipe)}?producer=${encodeURIComponent(producer)}&type=${type}`);
    socket.onmessage = ({ data }) => {
      const colon = data.indexOf(":");
      (lines[data.slice(0, colon)] ?? console.error)(data.slice(colon + 1));
      pump();
    };
    const mine = socket;
    let over = false;
    socket.onerror = () => setTimeout(() => mine.onclose({ code: 1006 }), 100); // if no close follows, as in Node 20
    socket.onclose = ({ code, reason }) => {
      if (over) return;
      over = true;
      ready = false;
      if (closed || FOR_GOOD.includes(code)) for (const e of [...sent, ...waiting]) e.reject(new Error(`${code} ${reason}`));
      else setTimeout(connect, Math.random() * Math.min(10_000, 100 * 2 ** failures++));
    };
  };
  connect();
  return {
    publish: (bytes) => new Promise((resolve, reject) => {
      const frame = new Uint8Array(8 + bytes.length);
      frame.set(bytes, 8);
      waiting.push({ frame, sequence: undefined, resolve, reject });
      pump();
    }),
    close() { closed = true; socket.close(1000); },
  };
}
