import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { metered } from '../../../lib/observe/metrics.ts';
import { platformTransport } from '../../../lib/platform/transport.ts';
import { closeServers, listening, platformThat, send } from './local-platform.ts';

/** No call here runs into its timeout, also on a busy machine. */
const patient = { timeoutMs: 3_000 };

// A call that never ends fails soon.
vi.setConfig({ testTimeout: 10_000 });

afterEach(closeServers);

describe('connections', () => {
  /** The platform records the connection of each request, by number, and closes none itself. */
  async function noting(answers: RequestListener = (_, response) => response.end('{}')) {
    const sockets: Socket[] = [];
    const used: number[] = [];
    const server = createServer((request, response) => {
      if (!sockets.includes(request.socket)) sockets.push(request.socket);
      used.push(sockets.indexOf(request.socket));
      answers(request, response);
    });
    server.keepAliveTimeout = 0;
    const baseUrl = `http://127.0.0.1:${await listening(server)}`;
    const now = { wallMs: 1_700_000_000_000, monotonicMs: 5_000 };
    const clocks = { wallMs: () => now.wallMs, monotonicMs: () => now.monotonicMs };
    const call = platformTransport({ baseUrl, version: 'v25.0', ...patient, clocks });
    const pass = (ms: number) => {
      now.wallMs += ms;
      now.monotonicMs += ms;
    };
    const closed = async (number: number) => {
      const socket = sockets[number];
      if (socket?.closed === false) await once(socket, 'close');
    };
    return { call, used, closed, now, pass };
  }

  test('one takes requests for two seconds after its last one began, in the next invocation too', async () => {
    const { call, used, pass } = await noting();
    for (const _ of ['one', 'two', 'three']) {
      await metered(() => call(send));
      pass(1_999);
    }
    expect(used).toEqual([0, 0, 0]);
  });

  test.each([
    ['by both clocks', { wallMs: 2_000, monotonicMs: 2_000 }],
    ['by the wall clock alone', { wallMs: 2_000, monotonicMs: 0 }],
    ['by the clock that is never set alone', { wallMs: 0, monotonicMs: 2_000 }],
    ['for all that is known: the clock was set back', { wallMs: -1, monotonicMs: 1 }],
  ])('one that has slept %s is never used, and is closed', async (_what, slept) => {
    const { call, used, closed, now } = await noting();
    await call(send);
    now.wallMs += slept.wallMs;
    now.monotonicMs += slept.monotonicMs;
    await call(send);
    await call(send);
    expect(used).toEqual([0, 1, 1]);
    await closed(0);
  });

  /** Sends two requests at a time on two connections; the test releases each answer by its number. */
  async function twoAtOnce() {
    const answered = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let requests = 0;
    const noted = await noting(async (_, response) => {
      const number = requests;
      requests += 1;
      arrived[number]?.resolve();
      await answered[number]?.promise;
      response.end('{}');
    });
    const begin = async (number: number) => {
      const ended = noted.call(send);
      await arrived[number]?.promise;
      return async () => {
        answered[number]?.resolve();
        await ended;
      };
    };
    return { ...noted, begin };
  }

  test.each([
    ['answered first', [0, 1]],
    ['answered last', [1, 0]],
  ])('of two that rest only the one that has slept is passed over: %s', async (_what, order) => {
    const { begin, call, used, closed, pass } = await twoAtOnce();
    const ends = [await begin(0)];
    pass(1_500);
    ends.push(await begin(1));
    for (const number of order) await ends[number]?.();
    pass(500);
    await call(send);
    expect(used).toEqual([0, 1, 1]);
    await closed(0);
  });

  test('an answer that comes after a sleep keeps no connection: it slept too', async () => {
    const { begin, used, closed, pass } = await twoAtOnce();
    const end = await begin(0);
    pass(2_000);
    await end();
    await (await begin(1))();
    expect(used).toEqual([0, 1]);
    await closed(0);
  });

  test('the clocks of the machine are used unless others are given', async () => {
    const used = new Set<Socket>();
    const call = await platformThat((request, response) => {
      used.add(request.socket);
      response.end('{}');
    }, patient);
    await call(send);
    await call(send);
    expect(used.size).toBe(1);
  });
});
