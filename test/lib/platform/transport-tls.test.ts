import dns from 'node:dns';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { platformTransport } from '../../../lib/platform/transport.ts';
import { certificate, type MediaHost, startMediaHost } from '../../support/media-host.ts';

/** Where a connection dies: so many bytes of that direction still pass. What would come after them ends both sides. */
interface Death {
  readonly towards: 'platform' | 'client';
  readonly afterBytes: number;
}

/** What passed, and whether the client has answered the platform's part of the handshake: for it the session stands then. */
interface Passage {
  readonly passed: Record<Death['towards'], number>;
  secured: boolean;
}

const { lookup } = dns;
const trustedBefore = getCACertificates('default');
const answer = JSON.stringify({ messages: [{ id: 'wamid.1' }] });
let platform: MediaHost;
/** The messages that the platform has taken, by the number that each call sends. */
const taken = new Set<string>();

beforeAll(async () => {
  setDefaultCACertificates([...trustedBefore, certificate]);
  // The certificate's name leads to this machine.
  dns.lookup = ((_name: string, _options: object, found: (error: null, addresses: object[]) => void) =>
    found(null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof lookup;
  platform = await startMediaHost((request, response) => {
    text(request).then(
      (body) => {
        taken.add(JSON.parse(body).to);
        // In pieces of their own, so that the connection can die between any two.
        response.writeHead(200, { connection: 'close', 'content-length': answer.length }).flushHeaders();
        setImmediate(() => {
          response.write(answer.slice(0, 10));
          setImmediate(() => response.end(answer.slice(10)));
        });
      },
      () => response.destroy(),
    );
  });
});

afterAll(async () => {
  setDefaultCACertificates(trustedBefore);
  dns.lookup = lookup;
  await platform.close();
});

/** Hands bytes through until the connection dies: by a reset at even places, by its end at odd ones. */
function passThrough(client: Socket, death: Death | undefined, passage: Passage): void {
  const server = connect(platform.port, '127.0.0.1');
  const die = () => {
    if ((death?.afterBytes ?? 0) % 2 === 0) client.resetAndDestroy();
    else client.end();
    server.destroy();
  };
  const towards = (direction: Death['towards'], to: Socket) => (bytes: Buffer) => {
    if (direction === 'platform' && passage.passed.client > 0) passage.secured = true;
    const room = death?.towards === direction ? death.afterBytes - passage.passed[direction] : bytes.byteLength;
    const passing = bytes.subarray(0, Math.max(0, room));
    passage.passed[direction] += passing.byteLength;
    const dies = passing.byteLength < bytes.byteLength;
    if (passing.byteLength > 0) to.write(passing, () => dies && die());
    else die();
  };
  client.on('data', towards('platform', server)).on('end', () => server.end());
  server.on('data', towards('client', client)).on('end', () => client.end());
  client.on('error', () => server.destroy());
  server.on('error', () => client.destroy());
}

let calls = 0;

async function callThrough(death?: Death) {
  const passage: Passage = { passed: { platform: 0, client: 0 }, secured: false };
  const way = createServer((client) => passThrough(client, death, passage));
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  const { port } = way.address() as AddressInfo;
  const call = platformTransport({ baseUrl: `https://media.example.com:${port}`, version: 'v25.0', timeoutMs: 30_000 });
  calls += 1;
  const to = String(calls).padStart(6, '0');
  const outcome = await call({ method: 'POST', path: '1/messages', body: { to }, accessToken: 'token' }).then(
    () => 'sent',
    (error: unknown) => (error instanceof PlatformFailure ? error.kind : String(error)),
  );
  way.close();
  return { outcome, passage, wasTaken: taken.has(to) };
}

/** What is wrong with an outcome, if anything. */
async function faultOf(death: Death): Promise<string | undefined> {
  const { outcome, passage, wasTaken } = await callThrough(death);
  const where = `${outcome} after ${death.afterBytes} bytes towards the ${death.towards}`;
  if (outcome === 'not_sent' && wasTaken) return `${where}, and taken`;
  if (outcome === 'not_sent' && passage.secured) return `${where}, and the session stood`;
  if (outcome === 'ambiguous' && !passage.secured) return `${where}, and the session never stood`;
  // The whole answer had come by.
  if (outcome === 'sent' && wasTaken) return undefined;
  return outcome === 'not_sent' || outcome === 'ambiguous' ? undefined : where;
}

test.each(['platform', 'client'] as const)(
  'a connection that dies at any byte towards the %s was not sent before the session stands, and may have been sent from then on (D29, R13)',
  async (towards) => {
    const { outcome, passage } = await callThrough();
    expect([outcome, passage.secured]).toEqual(['sent', true]);
    const places = Array.from({ length: passage.passed[towards] }, (_, afterBytes) => ({
      towards,
      afterBytes,
    })).values();
    const faults: string[] = [];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (const death of places) faults.push(...[await faultOf(death)].filter((fault) => fault !== undefined));
      }),
    );
    expect(faults).toEqual([]);
  },
  300_000,
);
