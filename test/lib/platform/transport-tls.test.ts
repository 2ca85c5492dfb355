import dns from 'node:dns';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { platformTransport } from '../../../lib/platform/transport.ts';
import { certificate, type MediaHost, startMediaHost } from '../../support/media-host.ts';
import { thorough } from '../../support/thorough.ts';

/** This many bytes of the direction still pass, and the next byte ends both sides. */
interface Death {
  readonly towards: 'platform' | 'client';
  readonly afterBytes: number;
}

/** `secured` says whether the client has answered the platform's handshake, which establishes the session. */
interface Passage {
  readonly client: Socket;
  readonly passed: Record<Death['towards'], number>;
  secured: boolean;
  death: Death | undefined;
}

const { lookup } = dns;
const trustedBefore = getCACertificates('default');
const answer = JSON.stringify({ messages: [{ id: 'wamid.1' }] });
let platform: MediaHost;
/** The platform took these calls, by number; the value says whether the TLS session was resumed. */
const taken = new Map<string, boolean>();

beforeAll(async () => {
  setDefaultCACertificates([...trustedBefore, certificate]);
  // The certificate's name resolves to this machine.
  dns.lookup = ((_name: string, _options: object, found: (error: null, addresses: object[]) => void) =>
    found(null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof lookup;
  platform = await startMediaHost((request, response) => {
    const takesUp = (request.socket as TLSSocket).isSessionReused();
    text(request).then(
      (body) => {
        taken.set(JSON.parse(body).to, takesUp);
        // The answer leaves in several pieces, so that the connection can die between any two.
        response.writeHead(200, { 'content-length': answer.length }).flushHeaders();
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

/** Forwards bytes until the connection dies: by a reset at even places, by a FIN at odd ones. */
function passThrough(passage: Passage): void {
  const { client, passed } = passage;
  const server = connect(platform.port, '127.0.0.1');
  const die = () => {
    if ((passage.death?.afterBytes ?? 0) % 2 === 0) client.resetAndDestroy();
    else client.end();
    server.destroy();
  };
  const towards = (direction: Death['towards'], to: Socket) => (bytes: Buffer) => {
    const { death } = passage;
    if (direction === 'platform' && passed.client > 0) passage.secured = true;
    const room = death?.towards === direction ? death.afterBytes - passed[direction] : bytes.byteLength;
    const passing = bytes.subarray(0, Math.max(0, room));
    passed[direction] += passing.byteLength;
    const dies = passing.byteLength < bytes.byteLength;
    if (passing.byteLength > 0) to.write(passing, () => dies && die());
    else die();
  };
  client.on('data', towards('platform', server)).on('end', () => server.end());
  server.on('data', towards('client', client)).on('end', () => client.end());
  client.on('error', () => server.destroy()).on('close', () => server.destroy());
  server.on('error', () => client.destroy());
}

/** Opens a way to the platform whose connections can die anywhere, and a transport on it. */
async function openWay() {
  const passages: Passage[] = [];
  const next: { death: Death | undefined } = { death: undefined };
  const way = createServer((client) => {
    const passage: Passage = { client, passed: { platform: 0, client: 0 }, secured: false, death: next.death };
    passages.push(passage);
    passThrough(passage);
  });
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  const { port } = way.address() as AddressInfo;
  const now = { ms: 1_000 };
  const call = platformTransport({
    baseUrl: `https://media.example.com:${port}`,
    version: 'v25.0',
    timeoutMs: 30_000,
    clocks: { wallMs: () => now.ms, monotonicMs: () => now.ms },
  });
  const close = () => {
    way.close();
    for (const { client } of passages) client.destroy();
  };
  return { passages, next, now, call, close };
}

let calls = 0;

async function sendThrough({ call }: Pick<Awaited<ReturnType<typeof openWay>>, 'call'>) {
  calls += 1;
  const to = String(calls).padStart(6, '0');
  const outcome = await call({ method: 'POST', path: '1/messages', body: { to }, accessToken: 'token' }).then(
    () => 'sent',
    (error: unknown) => (error instanceof PlatformFailure ? error.kind : String(error)),
  );
  return { to, outcome };
}

/** A call takes a new connection, an open one, or a new one that resumes the TLS session after the old one slept. */
const beginnings = ['a first connection', 'a connection used before', 'a session taken up again'] as const;
type Beginning = (typeof beginnings)[number];

/** Makes one call whose connection dies this many bytes later, and returns the result with the number of bytes. */
async function callThrough(beginning: Beginning, death?: Death) {
  const way = await openWay();
  const { passages, next, now } = way;
  try {
    if (beginning !== 'a first connection') expect(await sendThrough(way)).toMatchObject({ outcome: 'sent' });
    const [earlier] = passages;
    const kept = beginning === 'a connection used before' ? earlier : undefined;
    const before = { platform: 0, client: 0, ...kept?.passed };
    if (kept === undefined) {
      now.ms += 2_000;
      next.death = death;
    } else if (death !== undefined) {
      kept.death = { ...death, afterBytes: before[death.towards] + death.afterBytes };
    }
    const { to, outcome } = await sendThrough(way);
    const passage = kept ?? passages.at(-1);
    if (passage === undefined) throw new Error('no connection was made');
    const passed = {
      platform: passage.passed.platform - before.platform,
      client: passage.passed.client - before.client,
    };
    const { secured } = passage;
    return { outcome, secured, passed, tookUp: taken.get(to), wasTaken: taken.has(to), connections: passages.length };
  } finally {
    way.close();
  }
}

async function faultOf(beginning: Beginning, death: Death): Promise<string | undefined> {
  const { outcome, secured, wasTaken } = await callThrough(beginning, death);
  const where = `${outcome} after ${death.afterBytes} bytes towards the ${death.towards}`;
  if (outcome === 'not_sent' && wasTaken) return `${where}, and taken`;
  if (outcome === 'not_sent' && secured) return `${where}, and the session stood`;
  if (outcome === 'ambiguous' && !secured) return `${where}, and the session never stood`;
  // The whole answer had arrived.
  if (outcome === 'sent' && wasTaken) return undefined;
  return outcome === 'not_sent' || outcome === 'ambiguous' ? undefined : where;
}

test.each(
  beginnings.flatMap((beginning) => (['platform', 'client'] as const).map((towards) => ({ beginning, towards }))),
)(
  '$beginning that dies at any byte towards the $towards: not sent before the session stands, maybe sent from then on (D29, R13)',
  async ({ beginning, towards }) => {
    const { outcome, secured, passed, tookUp, connections } = await callThrough(beginning);
    expect({ outcome, secured, tookUp, connections }).toEqual({
      outcome: 'sent',
      secured: true,
      tookUp: beginning === 'a session taken up again',
      connections: beginning === 'a session taken up again' ? 2 : 1,
    });
    // A resumed session takes two handshakes for each place, so only every third place is tried. Resets and FINs still
    // alternate.
    const step = (beginning === 'a session taken up again' ? 3 : 1) * (thorough ? 1 : 13);
    const places = Array.from({ length: Math.ceil(passed[towards] / step) }, (_, place) => ({
      towards,
      afterBytes: place * step,
    })).values();
    const faults: string[] = [];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (const death of places) {
          faults.push(...[await faultOf(beginning, death)].filter((fault) => fault !== undefined));
        }
      }),
    );
    expect(faults).toEqual([]);
  },
  300_000,
);

test('batches of ten within two seconds of each other share ten connections, and later ones the session', async () => {
  const way = await openWay();
  const batch = async () => {
    const sent = await Promise.all(Array.from({ length: 10 }, () => sendThrough(way)));
    expect(sent.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 10 }, () => 'sent'));
    return sent.filter(({ to }) => taken.get(to)).length;
  };
  const takenUp = [await batch(), await batch(), await batch()];
  expect([way.passages.length, ...takenUp]).toEqual([10, 0, 0, 0]);
  way.now.ms += 2_000;
  expect([await batch(), way.passages.length]).toEqual([10, 20]);
  way.close();
});
