import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeAtOnce, openOnLoopback } from '../../src/loopback.ts';

export interface ReceivedCall {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** Receives the platform's webhooks on a free port, for any path. */
export async function callbackReceiver(verifyToken = 'right') {
  const calls: ReceivedCall[] = [];
  const answers: number[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { searchParams: query } = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const call = {
      method: incoming.method ?? '',
      query,
      headers: incoming.headers,
      bytes: await buffer(incoming),
    };
    calls.push(call);
    if (call.method === 'GET') {
      const known = query.get('hub.verify_token') === verifyToken && query.get('hub.mode') === 'subscribe';
      outgoing.writeHead(known ? 200 : 403).end(known ? query.get('hub.challenge') : '');
    } else outgoing.writeHead(answers.shift() ?? 200).end();
  });
  const port = await openOnLoopback(server, 0);
  return {
    origin: `http://127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/hook`,
    calls,
    /** Sets the statuses of the next answers to POST. */
    answerWith: (...statuses: readonly number[]) => answers.push(...statuses),
    /** Returns every status or news so far, in order, whatever the answer was. */
    updates: () => calls.filter(({ method }) => method === 'POST').flatMap(({ bytes }) => updatesIn(bytes)),
    forget: () => {
      calls.length = 0;
      answers.length = 0;
    },
    stop: () => closeAtOnce(server),
  };
}

export type CallbackReceiver = Awaited<ReturnType<typeof callbackReceiver>>;

export interface ReceivedUpdate {
  readonly wabaId: string;
  readonly field: string;
  // biome-ignore lint/suspicious/noExplicitAny: values of every shape
  readonly value: any;
}

/** Returns every update of an envelope; a status is its own value. */
export function updatesIn(bytes: Buffer): readonly ReceivedUpdate[] {
  const { object, entry } = JSON.parse(bytes.toString());
  if (object !== 'whatsapp_business_account') throw new Error(`an envelope of ${object}`);
  return entry.flatMap(({ id: wabaId, changes }: { id: string; changes: { field: string; value: Value }[] }) =>
    changes.flatMap(({ field, value }) =>
      field === 'messages'
        ? value.statuses.map((status) => ({ wabaId, field, value: status }))
        : { wabaId, field, value },
    ),
  );
}

interface Value {
  readonly statuses: readonly unknown[];
}
