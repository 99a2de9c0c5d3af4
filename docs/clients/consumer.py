"""Consumes a pipe in dialect 2; needs the package websockets."""
import random, struct, time
from urllib.parse import quote, urlencode
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

FOR_GOOD = {1007, 1009, 4001, 4003, 4004, 4409, 4410}
RECORD = struct.Struct(">qqHHI")


def records(frame):
    at = 0
    while at < len(frame):
        id, appended_at_millis, delivery, flags, length = RECORD.unpack_from(frame, at)
        at += RECORD.size + length
        yield id, frame[at - length : at]


def consume(url, pipe, handle, **options):
    """Calls handle(id, payload) for one event after the other; one that raises comes again. Returns at the end of the pipe."""
    failures = 0
    done = []  # handled, and the ack not sent yet: it counts on the next connection too

    def ack(socket):
        while done:
            socket.send("ACK:" + ",".join(map(str, done[:500])))
            del done[:500]

    while True:
        try:
            with connect(url, subprotocols=["tablet-relay.v2"], max_size=None) as socket:
                socket.send(f"BIND:{quote(pipe, safe='')}?{urlencode(options, quote_via=quote)}")
                for message in socket:
                    if isinstance(message, bytes):
                        for id, payload in records(message):
                            try:
                                handle(id, payload)
                                done.append(id)
                            except Exception as e:
                                socket.send(f"NACK:{id}:1000:{e}")
                        ack(socket)
                    elif message.startswith("READY:"):
                        failures = 0
                        ack(socket)
                    elif message == "END":
                        return
                    else:
                        print(message)
        except (OSError, WebSocketException) as e:
            if isinstance(e, ConnectionClosed) and e.rcvd and e.rcvd.code in FOR_GOOD:
                raise
        time.sleep(random.uniform(0, min(10, 0.1 * 2 ** min(failures, 10))))
        failures += 1
