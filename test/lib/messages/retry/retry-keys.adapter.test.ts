import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { Refusal, type RefusalCode } from '../../../../lib/http/refusal.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { runOverMs } from '../../../../lib/messages/accept/idempotency.ts';
import { idempotencyStore } from '../../../../lib/messages/accept/idempotency-store.ts';
import { parameterStore } from '../../../../lib/messages/accept/parameter-store.ts';
import { budgetsStore } from '../../../../lib/messages/budget/budgets-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import { idempotencyKey } from '../../../../lib/messages/dispatch/items.ts';
import { reportStore } from '../../../../lib/messages/report/report-store.ts';
import { acceptUnderNextKey, freeNow, type Retrying } from '../../../../lib/messages/retry/retry-keys.ts';
import { type Retry, rehearsedRetry } from '../../../../lib/messages/retry/retry-send.ts';
import { sendTimeOf } from '../../../../lib/messages/when/send-time.ts';
import { timetableOf } from '../../../../lib/messages/when/timetable.ts';
import { beginListed } from '../../../support/begun-dispatches.ts';
import { makeChannel, makeWaba } from '../../../support/directory.ts';
import { makeDispatch, makeDispatchHead } from '../../../support/made-dispatches.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const client = localDocumentClient();
const table = await freshTable('messages');
const startMs = Date.UTC(2026, 10, 22, 10);
const dayMs = 86_400_000;
const records = idempotencyStore(tableOf(client, table));
let nowMs = startMs;
const acceptance = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
const budgets = budgetsStore(tableOf(client, table, { pause: async () => undefined }));
const ports = { records, budgets, acceptance, nowMs: () => nowMs, remainingMs: () => 29_000 };
const ofClient = { clientId: 1001, did: '5491100000001' };
let number = 0;
let source: Retrying['source'];

beforeEach(() => {
  number += 1;
  nowMs = startMs;
  source = { dispatchId: `S${number}`, forgottenAtMs: startMs + 90 * dayMs };
});

const dispatchIdOf = (name: string) => `${name}-${number}`;
const begin = async (dispatchId: string) =>
  await beginListed(acceptance, { head: makeDispatchHead({ dispatchId, retryOf: source.dispatchId }), repeats: [] });
const retryingOf = (name: string, wanted: readonly number[]): Retrying => ({
  ...{ ...ofClient, dispatchId: dispatchIdOf(name), source, wanted },
});
/** Accepts a retry and begins it as acceptance does. Returns its recipients. */
const retried = async (name: string, wanted: readonly number[]) => {
  let chosen: readonly number[] = [];
  await acceptUnderNextKey(retryingOf(name, wanted), ports, async (free) => {
    chosen = [...free];
    expect(await begin(dispatchIdOf(name))).toBe('begun');
    return { dispatchId: dispatchIdOf(name) };
  });
  return chosen;
};
const refusedWith = async (code: RefusalCode, name: string, wanted: readonly number[]) => {
  const refused = acceptUnderNextKey(retryingOf(name, wanted), ports, async () => {
    throw new Refusal(code, 'no');
  });
  await expect(refused).rejects.toMatchObject({ code });
};
/** Has the next key of the source for a retry whose acceptance then dies. */
const died = async (name: string, wanted: readonly number[]) => await refusedWith('dispatch_undecided', name, wanted);
const freeFor = async (wanted: readonly number[]) => [...(await freeNow(retryingOf('rehearsed', wanted), ports))];
const nothingBut = (...names: readonly string[]) => ({
  ...{ code: 'nothing_to_retry', details: { retriedBy: names.map(dispatchIdOf) } },
});

describe('the retries of a dispatch (D57, R55)', () => {
  test('a recipient is in one retry; the next retry takes the rest', async () => {
    expect(await retried('A', [0, 1])).toEqual([0, 1]);
    expect(await retried('B', [1, 2])).toEqual([2]);
    await expect(retried('C', [0, 1, 2])).rejects.toMatchObject(nothingBut('A', 'B'));
    await expect(retried('C', [2])).rejects.toMatchObject(nothingBut('B'));
  });

  test('requests at once share no recipient', async () => {
    const all = await Promise.allSettled(['A', 'B', 'C', 'D'].map((name) => retried(name, [0, 1, 2])));
    expect(all.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))).toEqual([0, 1, 2]);
  });

  test('one that was refused gives them back at once', async () => {
    await refusedWith('template_not_sendable', 'A', [0]);
    expect(await retried('B', [0])).toEqual([0]);
  });

  test('one that died holds them until it must be over, then begins no more', async () => {
    await died('A', [0]);
    await expect(retried('B', [0])).rejects.toMatchObject({ code: 'request_in_progress' });
    await expect(freeFor([0])).rejects.toMatchObject({ code: 'request_in_progress' });
    nowMs += runOverMs;
    expect(await freeFor([0])).toEqual([0]);
    expect(await retried('B', [0])).toEqual([0]);
    expect(await begin(dispatchIdOf('A'))).toBe('withdrawn');
  });

  test('one that died gives back what it has reserved when it is taken back, one that has begun does not (D58)', async () => {
    const { clientId } = ofClient;
    for (const name of ['begun', 'dead']) {
      await budgets.reserve({ clientId, dispatchId: dispatchIdOf(name), atMs: nowMs, units: 10 });
    }
    const next = async (name: string) =>
      await acceptUnderNextKey(retryingOf(name, [0, 1]), ports, async () => {
        throw new Refusal('dispatch_undecided', 'dead');
      });
    await died('begun', [0]);
    await begin(dispatchIdOf('begun'));
    for (const name of ['dead', 'third']) {
      nowMs += runOverMs;
      await expect(next(name)).rejects.toMatchObject({ code: 'dispatch_undecided' });
    }
    expect(await budgets.committedUnits(clientId, nowMs)).toBe(10);
  });

  test('one that began after all keeps them', async () => {
    await died('A', [0]);
    await begin(dispatchIdOf('A'));
    nowMs += runOverMs;
    await expect(retried('B', [0])).rejects.toMatchObject(nothingBut('A'));
    expect(await retried('C', [0, 1])).toEqual([1]);
  });

  test('one that the source names keeps them at once, and when its own dispatch is forgotten', async () => {
    // Its dispatch has no item any more.
    await died('A', [0]);
    source = { ...source, retriedBy: new Set([dispatchIdOf('A')]) };
    expect(await freeFor([0, 1])).toEqual([1]);
    expect(await retried('B', [0, 1])).toEqual([1]);
    nowMs += 30 * dayMs;
    await expect(retried('C', [0])).rejects.toMatchObject(nothingBut('A'));
  });

  test('a rehearsal leaves nothing', async () => {
    await retried('A', [0]);
    expect(await freeFor([0, 1, 2])).toEqual([1, 2]);
    expect(await retried('B', [0, 1, 2])).toEqual([1, 2]);
    await expect(freeFor([0, 1])).rejects.toMatchObject(nothingBut('A', 'B'));
  });

  test('a retry that has begun is named by what it retries, once, and one that has not is not', async () => {
    const head = makeDispatchHead({ dispatchId: source.dispatchId, acceptedAtMs: startMs });
    await beginListed(acceptance, { head, repeats: [] });
    await died('A', [0]);
    nowMs += runOverMs;
    await retried('B', [1]);
    await begin(dispatchIdOf('B'));
    await retried('C', [2]);
    const found = await reportStore(tableOf(client, table, { nowMs: () => nowMs })).findDescribed(source.dispatchId);
    expect(found?.retriedBy).toEqual(new Set([dispatchIdOf('B'), dispatchIdOf('C')]));
  });

  test('the key of five thousand recipients, in any order, is a small item that names no person and goes after the source', async () => {
    const indexes = Array.from({ length: 5_000 }, (_, at) => 2 * at).toReversed();
    await retried('A', indexes);
    nowMs = source.forgottenAtMs;
    await expect(retried('B', indexes)).rejects.toMatchObject(nothingBut('A'));
    expect(await retried('B', [9_998, 9_999])).toEqual([9_999]);
    const key = idempotencyKey({ ...ofClient, key: `retry ${source.dispatchId} 0` });
    const { Item = {} } = await client.send(new GetCommand({ TableName: table, Key: key }));
    const { retries, ...rest } = Item;
    expect(retries.byteLength).toBeLessThan(12_000);
    expect(rest).toEqual({
      ...{ ...key, bodyHash: 'retry', dispatchId: dispatchIdOf('A'), startedAtMs: startMs, state: 'done' },
      rememberedUntilMs: source.forgottenAtMs + dayMs,
      expiresAtSeconds: (source.forgottenAtMs + dayMs) / 1_000,
    });
  });
});

const headersOf = (hours: { readonly window: string; readonly days: string; readonly zone: string }) => ({
  ...{ 'Send-Window': hours.window, 'Send-Days': hours.days, 'Send-Zone': hours.zone },
});

describe('a retry whose recipients are judged (D57)', () => {
  const parameters = parameterStore(tableOf(client, table));

  /** Stores a dispatch of three recipients that expired. */
  async function storeExpired(dispatchId: string, when: DispatchHead['when']): Promise<void> {
    const recipients = ['5491155550001', '5491155550002', '8835100000001'].map((to) => ({ to }));
    const dispatch = makeDispatch(recipients, { dispatchId, acceptedAtMs: startMs, when });
    const signal = AbortSignal.timeout(60_000);
    await acceptance.store(dispatch, signal);
    await beginListed(acceptance, { head: dispatch.head, repeats: [] });
    await dispatchItemStore(tableOf(client, table)).stop(dispatch.head, {
      state: 'expired',
      code: 'expired',
      atMs: startMs,
    });
  }

  /** Three recipients expired; another retry has the first one. */
  async function rehearsed(
    time: Retry['time'],
    judge: (send: {
      readonly request: { readonly recipients: readonly { readonly to: string }[] };
      readonly time?: Retry['time'];
    }) => unknown,
    when?: DispatchHead['when'],
  ) {
    const dispatchId = `01JS${String(number).padStart(22, '0')}`;
    await storeExpired(dispatchId, when);
    source = { ...source, dispatchId };
    await retried('A', [0]);
    const report = reportStore(tableOf(client, table, { nowMs: () => nowMs }), { consistent: true });
    const retry: Retry = {
      ...{ dispatchId: 'R', clientId: 1001, sourceId: dispatchId, codes: undefined, means: {} },
      caller: { userId: 'u', clientId: 1001, crossClient: false },
      did: { channel: makeChannel(), waba: makeWaba() },
      time,
    };
    const optOuts = { anyFor: async () => false, stoppedAmong: async () => new Map() };
    const ports = { records, report, acceptance, parameters, optOuts, nowMs: () => nowMs };
    return await rehearsedRetry(retry, ports, async (send) => judge(send)).catch((error: Refusal) => [
      error.code,
      error.message,
      error.details.errors?.map(({ path }) => path),
    ]);
  }

  test('is refused a time as a send is, by the places of the report that it retries (D56)', async () => {
    const hours = sendTimeOf({ 'Send-Window': '09:00-20:00' });
    const timed = (time: Retry['time']) =>
      rehearsed(time, ({ request: { recipients } }) => {
        timetableOf({ recipients, places: [...recipients.keys()], nowMs }, time as NonNullable<Retry['time']>);
      });
    expect(await timed(hours)).toEqual([
      'invalid_recipients',
      expect.stringMatching(/^recipients\[2\]\.to: expected a recipient whose time zone is known/),
      ['recipients[2].to'],
    ]);
    number += 100;
    expect(await timed(sendTimeOf({ 'Send-At': '2020-01-01T00:00:00Z' }))).toEqual([
      'invalid_request',
      expect.stringContaining('which has passed'),
      ['Send-At'],
    ]);
  });

  test('keeps the hours and days that the first one had asked for, and not its moment, unless it has hours or days of its own', async () => {
    const hours = { window: '09:00-20:00', days: 'mon-fri', zone: 'Europe/Madrid' };
    const when = { asked: { ...hours, send_at: '2026-12-01T00:00:00Z' }, fromMs: startMs };
    const moment = '2026-12-02T00:00:00Z';
    for (const [time, kept] of [
      [undefined, sendTimeOf(headersOf(hours))],
      [sendTimeOf({ 'Send-At': moment }), sendTimeOf({ 'Send-At': moment, ...headersOf(hours) })],
      [sendTimeOf({ 'Send-Days': 'mon-sun' }), sendTimeOf({ 'Send-Days': 'mon-sun' })],
      [
        sendTimeOf({ 'Send-At': moment, 'Send-Window': '10:00-11:00' }),
        sendTimeOf({ 'Send-At': moment, 'Send-Window': '10:00-11:00' }),
      ],
    ] as const) {
      number += 300;
      expect(await rehearsed(time, (send) => send.time, when)).toEqual(kept);
    }
    number += 300;
    expect(await rehearsed(undefined, (send) => send.time, { asked: { send_at: hours.window }, fromMs: startMs })).toBe(
      undefined,
    );
  });

  test('is not to be retried where their parameters do not fit, with a time or without', async () => {
    for (const time of [undefined, sendTimeOf({ 'Send-Window': '09:00-20:00' })]) {
      number += 200;
      const unfit = await rehearsed(time, () => {
        const path = 'recipients[1].params.body';
        throw new Refusal('invalid_recipients', `${path}: expected 2`, { errors: [{ path, message: 'expected 2' }] });
      });
      expect(unfit).toEqual(['not_retryable', expect.any(String), ['recipients[2].params.body']]);
    }
  });
});
