import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Seed } from '../../src/seed.ts';
import { startSimulator } from '../../src/server.ts';
import service from './service.json' with { type: 'json' };

export const firstWaba = '200000000000001';
export const secondWaba = '200000000000002';
export const firstNumber = '300000000000001';
export const thirdNumber = '300000000000003';
export const recipient = '5491150000001';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

/**
 * Starts a simulator with demo data on a free port whose real time stands still, with short calls for its routes. It
 * knows users, codes and some routes of a service (service.json), and not where that is.
 */
export async function simulatorAtRest(seed?: Seed) {
  const simulator = await startSimulator({
    nowMs: () => Date.parse('2026-11-20T12:00:00Z'),
    ...(seed === undefined ? {} : { seed }),
  });
  const words = wordsTo(() => simulator.url);
  await words.control('POST', 'service', { url: null, ...service });
  return { ...words, url: simulator.url, stop: () => simulator.stop() };
}

/**
 * Starts the simulator of a test file, stopped after the last test; with `afresh` its demo data is reset before every
 * test. Calls work only while tests run.
 */
export function simulatorOfFile({ afresh = false } = {}) {
  let started: SimulatorAtRest | undefined;
  beforeAll(async () => {
    started = await simulatorAtRest();
  });
  afterAll(() => started?.stop());
  const words = wordsTo(() => started?.url ?? '');
  if (afresh) beforeEach(() => words.control('POST', 'reset'));
  return {
    ...words,
    get url() {
      return started?.url ?? '';
    },
  };
}

function wordsTo(urlOf: () => string) {
  const call = async (method: string, path: string, body?: unknown, token = 'demo-platform-token'): Promise<Answer> => {
    const reply = await fetch(`${urlOf()}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await reply.text();
    const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text };
  };
  return {
    call,
    get: (path: string, query: Readonly<Record<string, string>> = {}) =>
      call('GET', `/v25.0/${path}?${new URLSearchParams(query)}`),
    post: (path: string, body?: unknown) => call('POST', `/v25.0/${path}`, body),
    control: (method: string, path: string, body?: unknown) => call(method, `/_control/${path}`, body),
    /** Posts a valid message with `changes`. */
    send: (to: string, changes: Readonly<Record<string, unknown>> = {}, number = firstNumber) =>
      call('POST', `/v25.0/${number}/messages`, { ...templateMessage('order_update', orderUpdate), to, ...changes }),
  };
}

export type SimulatorAtRest = Awaited<ReturnType<typeof simulatorAtRest>>;

export function templateMessage(name: string, components: readonly unknown[], language = 'en_US') {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: recipient,
    type: 'template',
    template: { name, language: { code: language }, components },
  };
}

export const text = (value: unknown) => ({ type: 'text', text: value });
export const header = (...parameters: unknown[]) => ({ type: 'header', parameters });
export const body = (...values: unknown[]) => ({ type: 'body', parameters: values.map(text) });
export const button = (subType: string, index: unknown, ...parameters: unknown[]) => ({
  type: 'button',
  sub_type: subType,
  index,
  parameters,
});

export const orderUpdate = [body('Ana', 'A-1042'), button('url', 0, text('A-1042'))];
