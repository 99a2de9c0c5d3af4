"""Publishes to a pipe in dialect 2, each event once; needs the package websockets."""
import json, random, struct, time
from urllib.parse import quote
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

FOR_GOOD = {1007, 1009, 4001, 4003, 4004, 4409, 4410}
FOR_NOW = {"PIPE_FULL", "STORAGE_FULL", "PIPE_FAILED", "BUSY", "STOPPING", "OUT_OF_SEQUENCE"}


def produce(url, pipe, producer, events, type="json", refused=print):
    """Publishes all events; returns once each is durable, or refused for good, which refused(sequence, why) hears."""
    events = iter(events)
    unanswered = {}  # sequence: payload, in order
    failures = 0
    more = True
    while more or unanswered:
        try:
            with connect(url, subprotocols=["tablet-relay.v2"]) as socket:
                socket.send(f"PUBLISH:{quote(pipe, safe='')}?producer={quote(producer, safe='')}&type={type}")
                verb, _, text = socket.recv().partition(":")
                if verb != "READY":
                    raise RuntimeError(text)
                ready = json.loads(text)
                # What it has stored is done. The rest goes again, behind the last that it has.
                again = [payload for sequence, payload in unanswered.items() if sequence > ready["last"]]
                unanswered = dict(enumerate(again, ready["last"] + 1))
                following = ready["last"] + 1 + len(unanswered)
                for sequence, payload in unanswered.items():
                    socket.send(struct.pack(">q", sequence) + payload)
                while True:
                    while more and len(unanswered) < ready["credit"]:
                        payload = next(events, None)
                        more = payload is not None
                        if more:
                            unanswered[following] = payload
                            socket.send(struct.pack(">q", following) + payload)
                            following += 1
                    if not unanswered:
                        return
                    verb, _, text = socket.recv().partition(":")
                    if verb == "STORED":
                        failures = 0
                        unanswered = {s: payload for s, payload in unanswered.items() if s > int(text)}
                    elif verb == "REJECTED":
                        sequence, _, why = text.partition(":")
                        if json.loads(why)["code"] in FOR_NOW:
                            break  # the next READY says where to go on
                        del unanswered[int(sequence)]
                        refused(int(sequence), why)
        except (OSError, WebSocketException) as e:
            if isinstance(e, ConnectionClosed) and e.rcvd and e.rcvd.code in FOR_GOOD:
                raise
        time.sleep(random.uniform(0, min(10, 0.1 * 2 ** min(failures, 10))))
        failures += 1
