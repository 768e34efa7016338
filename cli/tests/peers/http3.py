"""Videos over HTTP/3 by aioquic: http3.py PORT FILE asks for the FILE of that name, whole, in a range, in many at once, and for
what cannot be. Says nothing and ends with 0 if all is as it must be."""

import asyncio
import pathlib
import ssl
import sys

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration

PATIENCE = 20


class Client(QuicConnectionProtocol):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.http = H3Connection(self._quic)
        self.answers = {}

    def quic_event_received(self, event):
        for part in self.http.handle_event(event):
            answer = self.answers.get(getattr(part, "stream_id", None))
            if answer is None:
                continue
            if isinstance(part, HeadersReceived):
                answer["head"].update(part.headers)
            if isinstance(part, DataReceived):
                answer["content"] += part.data
            if part.stream_ended and not answer["end"].done():
                answer["end"].set_result(None)

    async def get(self, path, wanted=None):
        """Status and content."""
        stream = self._quic.get_next_available_stream_id()
        end = asyncio.get_running_loop().create_future()
        answer = self.answers[stream] = {"head": {}, "content": bytearray(), "end": end}
        fields = {b":method": b"GET", b":scheme": b"https", b":authority": b"localhost", b":path": path.encode()}
        if wanted:
            fields[b"range"] = wanted.encode()
        self.http.send_headers(stream, list(fields.items()), end_stream=True)
        self.transmit()
        await asyncio.wait_for(end, PATIENCE)
        return int(answer["head"][b":status"]), bytes(answer["content"])


async def main(port, file):
    video, path = file.read_bytes(), f"/{file.name}"
    # Who the server is curl looks at.
    configuration = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN, verify_mode=ssl.CERT_NONE)
    async with connect("127.0.0.1", port, configuration=configuration, create_protocol=Client) as client:
        assert await client.get(path) == (200, video), "the whole video"
        assert await client.get(path, "bytes=1000-1999") == (206, video[1000:2000]), "a range"
        assert await client.get(path, "bytes=-10") == (206, video[-10:]), "its end"
        parts = await asyncio.gather(*[client.get(path, f"bytes={first * 1000}-") for first in range(25)])
        assert parts == [(206, video[first * 1000 :]) for first in range(25)], "many at once"
        for path, wanted, status in [(path, f"bytes={len(video)}-", 416), ("/none", None, 404), ("/../../etc/passwd", None, 400)]:
            assert (await client.get(path, wanted))[0] == status, path


asyncio.run(main(int(sys.argv[1]), pathlib.Path(sys.argv[2])))
