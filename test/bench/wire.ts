import { fork } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import * as v from 'valibot';
import { type PlatformTransport, platformTransport } from '../../lib/platform/transport.ts';
import { certificate } from '../support/media-host.ts';
import { median, report } from './figure.ts';

const rounds = 60;
const warmUps = 10;
const batchSize = 10;

type Handshakes = () => Promise<number>;

interface Measured {
  readonly handshakes: number;
  readonly processorMs: number;
}

/**
 * Compares a batch of ten messages on connections that are kept, connections that resume a TLS session, and new
 * connections. The platform runs in a process of its own.
 */
export async function benchWire(): Promise<void> {
  const platform = fork(new URL('wire-platform.ts', import.meta.url).pathname, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(platform, 'exit').then(() => Promise.reject(new Error('the platform ended')));
  const told = async () =>
    v.parse(v.tuple([v.number()]), (await Promise.race([once(platform, 'message'), ended])).slice(0, 1))[0];
  const handshakes = async () => {
    platform.send('handshakes?');
    return await told();
  };
  const trustedBefore = getCACertificates('default');
  const { lookup } = dns;
  try {
    const port = await told();
    setDefaultCACertificates([...trustedBefore, certificate]);
    // The name of the certificate resolves to this machine.
    dns.lookup = ((_name: string, _options: object, found: (error: null, addresses: object[]) => void) =>
      found(null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof lookup;
    await compare(handshakes, { baseUrl: `https://media.example.com:${port}`, version: 'v25.0', timeoutMs: 10_000 });
  } finally {
    dns.lookup = lookup;
    setDefaultCACertificates(trustedBefore);
    ended.catch(() => undefined);
    platform.disconnect();
  }
}

async function compare(handshakes: Handshakes, options: Parameters<typeof platformTransport>[0]): Promise<void> {
  const still = { wallMs: () => 0, monotonicMs: () => 0 };
  let sleptMs = 0;
  const jumping = { wallMs: () => sleptMs, monotonicMs: () => sleptMs };
  const kept = platformTransport({ ...options, clocks: still });
  const slept = platformTransport({ ...options, clocks: jumping });
  const [ofKept, ofSlept, ofNew]: Measured[][] = [[], [], []];
  for (let round = 0; round < warmUps + rounds; round += 1) {
    sleptMs += 10_000;
    const measured = [
      await batch(handshakes, kept),
      await batch(handshakes, slept),
      await batch(handshakes, platformTransport({ ...options, clocks: still })),
    ] as const;
    if (round < warmUps) continue;
    ofKept?.push(measured[0]);
    ofSlept?.push(measured[1]);
    ofNew?.push(measured[2]);
  }
  const perMessage = (batches: readonly Measured[] = []) =>
    batches.reduce((sum, { handshakes }) => sum + handshakes, 0) / (batches.length * batchSize);
  const processor = (batches: readonly Measured[] = []) => median(batches.map(({ processorMs }) => processorMs));
  report({ figure: 'wire.handshakes_per_message', value: perMessage(ofKept), limit: 0.01, unit: 'handshakes' });
  report({ figure: 'wire.handshakes_per_message_with_new_connections', value: perMessage(ofNew), unit: 'handshakes' });
  report({
    figure: 'wire.processor_to_new_connections',
    value: processor(ofKept) / processor(ofNew),
    limit: 0.6,
    unit: 'ratio',
  });
  report({
    figure: 'wire.processor_after_sleep_to_new_connections',
    value: processor(ofSlept) / processor(ofNew),
    unit: 'ratio',
  });
}

async function batch(handshakes: Handshakes, call: PlatformTransport): Promise<Measured> {
  const before = await handshakes();
  const used = process.cpuUsage();
  const send = { method: 'POST', path: '1/messages', body: { to: '15550001111' }, accessToken: 'token' } as const;
  await Promise.all(Array.from({ length: batchSize }, () => call(send)));
  const { user, system } = process.cpuUsage(used);
  return { handshakes: (await handshakes()) - before, processorMs: (user + system) / 1_000 };
}
