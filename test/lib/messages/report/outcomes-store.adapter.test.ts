import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CommandError, WouldChange } from '../../../../infra/operate/command.ts';
import type { Progress } from '../../../../infra/operate/progress.ts';
import { holdsCommand } from '../../../../infra/operate/see/holds.ts';
import { openHolds } from '../../../../infra/operate/see/open-holds.ts';
import { outcomesCommand, type Terminal } from '../../../../infra/operate/see/outcomes.ts';
import { batchPut } from '../../../../lib/aws/dynamodb-batch.ts';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import {
  dispatchesPartition,
  dispatchKey,
  dispatchSortKey,
  unknownMarkKey,
} from '../../../../lib/messages/dispatch/items.ts';
import type { Outcome, Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { opened as breakerOpened, closed } from '../../../../lib/messages/holds/breaker.ts';
import { breakerStore } from '../../../../lib/messages/holds/breaker-store.ts';
import { type Hold, opened } from '../../../../lib/messages/holds/hold.ts';
import { ended } from '../../../../lib/messages/holds/hold-ends.ts';
import { holdStore } from '../../../../lib/messages/holds/hold-store.ts';
import { probeTaken } from '../../../../lib/messages/holds/questions.ts';
import type { HoldScope } from '../../../../lib/messages/holds/scope.ts';
import { receiptItems } from '../../../../lib/messages/receipts/receipt-items.ts';
import { outcomesStore } from '../../../../lib/messages/report/outcomes-store.ts';
import { claimLifeMs } from '../../../../lib/messages/send/deadlines.ts';
import { countDispatches } from '../../../../lib/messages/spend/count-dispatches.ts';
import { spendOf } from '../../../../lib/messages/spend/spend.ts';
import { spendStore } from '../../../../lib/messages/spend/spend-store.ts';
import { spendSumsStore } from '../../../../lib/messages/spend/spend-sums-store.ts';
import { beginListed } from '../../../support/begun-dispatches.ts';
import { makeDispatch, makeDispatchHead } from '../../../support/made-dispatches.ts';
import { operatorAuditInMemory } from '../../../support/operator-audit.ts';
import { recipientOf, shippedKnownRates } from '../../../support/reported-dispatches.ts';
import { claimOf } from '../../../support/reported-slices.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const acceptedAtMs = Date.UTC(2026, 10, 20, 23, 59, 59, 500);
const nowMs = acceptedAtMs + 10 * claimLifeMs;
const client = localDocumentClient();
const table = await freshTable('messages');
const stored = tableOf(client, table, { nowMs: () => nowMs, pause: async () => undefined });
const outcomes = outcomesStore(stored);
const kept = acceptedDispatchesStore(stored);
const slices = sliceStore(stored);
const headOf = (name: string, changes: Partial<DispatchHead> = {}) =>
  makeDispatchHead({ dispatchId: name.padStart(26, '0'), acceptedAtMs, total: 23, ...changes });
const first = headOf('FIRST');
const sent = { state: 'sent', platformMessageId: 'w' } as const;
const at = '2026-11-20T23:59:59.500Z';

async function accept(head: DispatchHead, repeats: [number, number][] = []): Promise<void> {
  const recipients = Array.from({ length: head.total }, (_, index) => ({ to: recipientOf(index) }));
  await kept.store({ ...makeDispatch(recipients), head, repeats }, new AbortController().signal);
  await beginListed(kept, { head, repeats });
}

async function claim(head: DispatchHead, number: number): Promise<Slice> {
  return (await slices.claim(claimOf(head, number, { atMs: acceptedAtMs }))).slice;
}

beforeAll(async () => {
  await accept(first, [[23, 1]]);
  const unknown = { state: 'unknown', code: 'no_answer' } as const;
  const failed = { state: 'failed', code: '131026', reason: 'undeliverable' } as const;
  const ended: Outcome[] = [sent, unknown, failed, ...Array<Outcome>(7).fill(sent)];
  await slices.end(await claim(first, 0), new Map(ended.entries()));
  // The worker of this claim died.
  await claim(first, 2);
});

const ledger = spendStore(stored);
const { wabaId } = first;
const dids = [first.did, '5491100000002'];
const audited = operatorAuditInMemory();
const read: string[] = [];

const printed = async (...line: string[]) => (await printedBy(outcomesCommand, line)).lines;
const resolve = (id: string, state: string) => printed('--resolve', id, state, '--yes');
const holds = async (...line: string[]) => (await printedBy(holdsCommand, line)).lines;

type Commands = typeof outcomesCommand | typeof holdsCommand;
async function printedBy(command: Commands, commandLine: readonly string[], lines: string[] = []) {
  const told: string[] = [];
  const stage = {
    ...{ outcomes, holds: openHolds(stored), nowMs: () => nowMs, audit: audited.audit },
    listWabaIds: async () => [wabaId],
    listNumbers: async () => dids.map((did, at) => ({ did, wabaId, phoneNumberId: `30000000000000${at + 1}` })),
    countCost: (id: string) => countDispatches([id], { ledger, rates: shippedKnownRates, nowMs: () => nowMs }),
    clientsOf: async () => [1001],
  };
  const progress: Progress = (words, work) => work().finally(() => read.push(words()));
  const terminal: Terminal = { print: (line) => lines.push(line), tell: (line) => told.push(line), progress };
  await command(commandLine, () => stage, terminal);
  return { lines, told };
}

const cells = (line: string | undefined) => (line ?? '').split(/ +/);

test('the command shows what stands in slices, with the addresses of the description', async () => {
  const { dispatchId } = first;
  const { lines, told } = await printedBy(outcomesCommand, ['--dispatch', dispatchId]);
  expect(read.at(-1)).toBe('1 dispatches are read');
  const to = recipientOf;
  expect(lines[0]).toMatch(/^DISPATCH +CLIENT +DID +ACCEPTED +TEMPLATE +TOTAL +PENDING +HELD /);
  expect(cells(lines[1])).toEqual([
    dispatchId,
    '1001',
    first.did,
    at,
    'order_update',
    '24',
    '10',
    '0',
    '8',
    '0',
    '0',
    '1',
    '0',
    '5',
    '-',
  ]);
  expect(cells(lines[3])).toEqual(['MESSAGE', 'TO', 'STATE', 'AT', 'CODE', 'PLATFORM_ID', 'REASON']);
  expect(lines.slice(4, 7).map(cells)).toEqual([
    [`${dispatchId}-1`, to(1), 'unknown', at, 'no_answer', '-', '-'],
    [`${dispatchId}-2`, to(2), 'failed', at, '131026', '-', 'undeliverable'],
    [`${dispatchId}-20`, to(20), 'unknown', at, 'worker_lost', '-', '-'],
  ]);
  expect(told[1]).toBe(`  infra/ops outcomes --resolve ${dispatchId}-1 sent --yes   # or: failed`);
  const total = 'total 24: 10 pending, 0 held, 8 sent, 0 delivered, 0 read, 1 failed, 0 expired, 5 unknown';
  expect(told.at(-1)).toBe(total);
  const [, one] = await printed('--dispatch', `${dispatchId}-0`);
  expect(cells(one)).toEqual([`${dispatchId}-0`, to(0), 'sent', at, '-', 'w', '-']);
  const message = `The dispatch ${dispatchId} has no message 24; it has 24: infra/ops outcomes --dispatch ${dispatchId} --all`;
  await expect(printed('--dispatch', `${dispatchId}-24`)).rejects.toMatchObject({ message, exitStatus: 1 });
  await expect(printed('--dispatch', 'NO-SUCH-DISPATCH')).rejects.toMatchObject({
    message: 'Nothing found: no such dispatch, or it is older than 30 days.',
  });
});

test('an operator settles an unknown message once; nothing that is known is overwritten', async () => {
  const { dispatchId: id } = first;
  const lines: string[] = [];
  const shown = printedBy(outcomesCommand, ['--resolve', `${id}-1`, 'failed'], lines);
  await expect(shown).rejects.toEqual(new WouldChange('nothing was written: repeat with --yes'));
  expect(lines).toEqual([expect.stringMatching(new RegExp(`^${id}-1 .* unknown .*: would be failed$`))]);
  expect(await resolve(`${id}-1`, 'failed')).toEqual([`${id}-1 is now failed`]);
  const on = { dispatchId: id, how: 'failed', count: 1 };
  expect(audited.entries).toMatchObject(
    ['begun', 'done'].map((outcome) => ({ what: 'command.outcome_resolve', on, outcome })),
  );
  const [, line] = await printed('--dispatch', `${id}-1`);
  const settledAt = new Date(nowMs).toISOString();
  expect(cells(line)).toEqual([`${id}-1`, recipientOf(1), 'failed', settledAt, 'resolved_by_operator', '-', '-']);
  for (const [index, state] of [
    [1, 'sent'],
    [0, 'failed'],
    [2, 'sent'],
    [15, 'failed'],
  ] as const) {
    for (const yes of [[], ['--yes']])
      await expect(printed('--resolve', `${id}-${index}`, state, ...yes)).rejects.toMatchObject({ exitStatus: 1 });
  }
});

test('what it costs is counted then, also when the command before died in between (D58)', async () => {
  const head = headOf('COST', { total: 3, clientId: 7_001 });
  await accept(head);
  const unknown: Outcome = { state: 'unknown', code: 'no_answer' };
  await slices.end(await claim(head, 0), new Map([0, 1, 2].map((index) => [index, unknown])));
  const spent = async () =>
    spendOf(await spendSumsStore(stored).between(head.clientId, '2026-11-01', '2026-11-30'), 'did').total.messages;
  await resolve(`${head.dispatchId}-0`, 'sent');
  expect(await spent()).toBe(1);
  await outcomes.resolve({ dispatchId: head.dispatchId, index: 1 }, 'sent');
  expect(await spent()).toBe(1);
  await expect(resolve(`${head.dispatchId}-1`, 'sent')).rejects.toBeInstanceOf(CommandError);
  await resolve(`${head.dispatchId}-2`, 'failed');
  expect(await spent()).toBe(2);
});

test('also one whose worker died, of which no delivery came since: then its receipts are looked for, too', async () => {
  const head = headOf('DEAD', { total: 2 });
  await accept(head);
  await claim(head, 0);
  expect(await outcomes.resolve({ dispatchId: head.dispatchId, index: 0 }, 'sent')).toBe(true);
  expect((await slices.find({ dispatchId: head.dispatchId, slice: 0 }))?.outcomes).toEqual([
    { state: 'sent', code: 'resolved_by_operator', resolvedAtMs: nowMs },
    { state: 'unknown', code: 'worker_lost' },
  ]);
  const { Item: doubt } = await client.send(new GetCommand({ TableName: table, Key: unknownMarkKey(head.dispatchId) }));
  expect(doubt).toBeDefined();
  expect(await outcomes.resolve({ dispatchId: head.dispatchId, index: 1 }, 'failed')).toBe(true);
});

test('what a receipt has settled, and what ended with its dispatch, is not unknown', async () => {
  const head = headOf('TOLD', { total: 12 });
  await accept(head);
  await claim(head, 0);
  const receipt = { dispatchId: head.dispatchId, index: 3, status: 'delivered', atMs: nowMs, platformMessageId: 'w' };
  for (const Item of receiptItems(head.dispatchId, [receipt], 1_900_000_000)) {
    await client.send(new PutCommand({ TableName: table, Item }));
  }
  expect((await outcomes.ofMessage({ dispatchId: head.dispatchId, index: 3 })).state).toBe('delivered');
  expect(await outcomes.resolve({ dispatchId: head.dispatchId, index: 3 }, 'failed')).toBe(false);
  expect(await outcomes.resolve({ dispatchId: 'none', index: 3 }, 'failed')).toBe(false);
});

test('dispatches are found by DID and time, each once, and from their acceptance on', async () => {
  const dispatches = [headOf('LIST0', { did: '9' }), headOf('LIST1', { did: '9', acceptedAtMs: acceptedAtMs + 1_000 })];
  for (const head of dispatches) await accept(head);
  const found = async (fromMs: number, toMs: number) =>
    (await outcomes.listAll({ did: '9', clientIds: [1001] }, { fromMs, toMs })).map(({ head }) => head.dispatchId);
  const [one, other] = dispatches.map(({ dispatchId }) => dispatchId);
  expect(await found(acceptedAtMs, acceptedAtMs + 1_001)).toEqual([one, other]);
  expect(await found(acceptedAtMs, acceptedAtMs + 1_000)).toEqual([one]);
  expect(await found(acceptedAtMs + 1, acceptedAtMs + 2_000)).toEqual([other]);
});

describe('what is held, and who waits (D46)', () => {
  const wabas = holdStore(stored, { pause: stored.pause });
  const breakers = breakerStore(stored);
  const states = dispatchItemStore(stored);
  const sinceMs = nowMs - 60_000;
  const later = (ms: number) => new Date(sinceMs + ms).toISOString();
  const since = later(0);
  const paused = headOf('PAUSED', { total: 2 });
  // It was accepted weeks ago: a scheduled send.
  const long = headOf('LONG', { total: 2, acceptedAtMs: acceptedAtMs - 25 * 86_400_000 });
  const other = headOf('OTHER', { total: 2, did: dids[1] ?? '', phoneNumberId: '300000000000002', wabaId: 'W2' });
  const idsIn = (lines: readonly string[]) => lines.flatMap((line) => /^(\d*[A-Z]+) +1001 /.exec(line)?.[1] ?? []);
  const total = (pending: number) => `total ${pending}: ${pending} pending, 0 held`;

  beforeAll(async () => {
    const stopped = headOf('STOPPED', { total: 2 });
    for (const head of [long, paused, other, stopped]) {
      await accept(head);
      await states.park(head.dispatchId, { code: 'template_paused', scope: 'template', sinceMs });
    }
    await states.stop(stopped, cancelled(nowMs));
  });

  afterEach(async () => {
    const scopes = Object.entries((await wabas.find(wabaId)).holds) as [HoldScope, Hold][];
    for (const [scope, hold] of scopes) await wabas.change(wabaId, ended(scope, hold.sinceMs, nowMs));
    await breakers.change(await breakers.find(), closed);
  });

  test('nothing: dispatches that were told as waiting go on, those that were stopped do not wait', async () => {
    const { lines, told } = await printedBy(holdsCommand, []);
    expect(lines[0]).toMatch(/^DISPATCH .* WAITS_FOR$/);
    expect(lines[1]).toMatch(/ nothing any more: it goes on within minutes$/);
    expect(idsIn(lines)).toEqual([long.dispatchId, paused.dispatchId, other.dispatchId]);
    expect(told.at(-1)).toContain(total(6));
    expect(JSON.parse((await holds('--json')).join())).toMatchObject({
      held: [],
      going_on: [long, paused, other].map(({ dispatchId }) => ({ dispatch_id: dispatchId })),
    });
    const nothing = await printedBy(holdsCommand, ['--since', '1m']);
    expect([nothing.lines, nothing.told]).toEqual([[expect.stringMatching(/^CODE .*HOLD$/)], ['Nothing is held.']]);
  });

  test('dispatches whose items cannot be read hide no other: they are named, with status 1', async () => {
    const [oddState, oddHead] = [headOf('ODDSTATE', { total: 2 }), headOf('ODDHEAD', { total: 2 })];
    await accept(oddState);
    await accept(oddHead);
    const spoil = (dispatchId: string, changes: object) =>
      client.send(new PutCommand({ TableName: table, Item: { ...dispatchKey(dispatchId), ...changes } }));
    await spoil(oddState.dispatchId, { parked: { scope: 'of a later version' } });
    await spoil(oddHead.dispatchId, { head: 'no head', parked: { code: '368', scope: 'waba', sinceMs } });
    const lines: string[] = [];
    await expect(printedBy(holdsCommand, [], lines)).rejects.toMatchObject({
      exitStatus: 1,
      message: `2 dispatches cannot be read, and may wait as well: ${oddHead.dispatchId}, ${oddState.dispatchId}`,
    });
    expect(idsIn(lines)).toEqual([long.dispatchId, paused.dispatchId, other.dispatchId]);
    for (const { dispatchId } of [oddState, oddHead]) {
      await client.send(new DeleteCommand({ TableName: table, Key: dispatchKey(dispatchId) }));
    }
  });

  test('among thousands of kept dispatches, read with few requests at once', async () => {
    const kept = Array.from({ length: 2_500 }, (_, at) => String(at).padStart(26, '0'));
    const pointerOf = (dispatchId: string) => ({
      pk: dispatchesPartition(8_001),
      sk: dispatchSortKey(acceptedAtMs, dispatchId),
      dispatchId,
    });
    await batchPut(
      stored,
      [...kept, paused.dispatchId].map((dispatchId) => ({ ...pointerOf(dispatchId), did: paused.did })),
    );
    const [counted, reads] = [localDocumentClient(), { now: 0, most: 0 }];
    counted.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'BatchGetItemCommand') reads.most = Math.max(reads.most, ++reads.now);
          return await next(args).finally(() => commandName === 'BatchGetItemCommand' && reads.now--);
        },
      { step: 'initialize' },
    );
    const listed = outcomesStore({ ...stored, client: counted });
    const found = await listed.listParked(
      { did: paused.did, clientIds: [8_001] },
      { fromMs: 0, toMs: nowMs },
      () => {},
    );
    expect(found.map(({ head }) => head.dispatchId)).toEqual([paused.dispatchId]);
    expect(reads.most).toBeLessThanOrEqual(10);
  });

  test('each hold with its reason, its questions and the line that ends it; beneath it who waits', async () => {
    const about = { templateName: '', templateLanguage: '' };
    const message = { ...about, category: 'UTILITY', path: 'messages', phoneNumberId: '300000000000001' } as const;
    const template = 'template:order_update/en_US' as const;
    await wabas.change(wabaId, opened(template, { code: '132015', nowMs: sinceMs }));
    await wabas.change(wabaId, opened('waba', { code: '368', nowMs: sinceMs, untilMs: sinceMs + 3_600_000 }));
    await wabas.change(wabaId, opened('number:300000000000001', { code: 'no_answer', nowMs: sinceMs }));
    await wabas.change(wabaId, probeTaken(message, sinceMs + 3_600_000));
    await breakers.change(await breakers.find(), breakerOpened(sinceMs));
    const { lines, told } = await printedBy(holdsCommand, ['--since', '1d', '--did', first.did]);
    const number = `number 300000000000001 of waba ${wabaId}`;
    const template1 = `template order_update/en_US of waba ${wabaId}`;
    expect(lines.slice(0, 5).map((line) => line.split(/ {2,}/).map((cell) => cell.trim()))).toEqual([
      ['CODE', 'SINCE', 'UNTIL', 'ASKED', 'NEXT_QUESTION', 'DISPATCHES', 'DIDS', 'HOLD'],
      ['no_answer', since, '-', '0', later(5_000), '1', '-', 'platform'],
      ['368', since, later(3_600_000), '1', later(3_660_000), '0', '-', `waba ${wabaId}`],
      ['no_answer', since, '-', '1', later(3_660_000), '0', first.did, number],
      ['132015', since, '-', '0', later(10_000), '0', '-', template1],
    ]);
    expect(lines[6]).toMatch(/^DISPATCH .* WAITS_FOR$/);
    expect(lines[7]).toMatch(new RegExp(`^${paused.dispatchId} .* platform$`));
    expect(lines).toHaveLength(8);
    expect(told).toEqual([
      expect.stringMatching(/^no_answer The platform does not answer\. To do: Look at its status page/),
      expect.stringMatching(/^368 Temporarily blocked for policies violations\. To do: \w/),
      expect.stringMatching(/^no_answer Messages of the number get no answer, .+ To do: Look at the number/),
      expect.stringMatching(/^132015 Template is Paused\. To do: Nothing at first/),
      'each is asked again by itself; once you have removed its cause, one line ends it now:',
      "  infra/ops holds --end 'platform'",
      `  infra/ops holds --end 'waba ${wabaId}'`,
      `  infra/ops holds --end '${number}'`,
      `  infra/ops holds --end '${template1}'`,
      expect.stringContaining(total(2)),
    ]);
    expect(JSON.parse((await holds('--json')).join()).held[1]).toEqual({
      ...{ hold: `waba ${wabaId}`, waba_id: wabaId, scope: 'waba', code: '368', since, questions: 1, waiting: [] },
      ...{
        title: 'Temporarily blocked for policies violations',
        remedy: expect.stringContaining('.'),
        until: later(3_600_000),
        next_question: later(3_660_000),
      },
    });
  });

  test('an operator ends one of them; the others stay', async () => {
    await wabas.change(wabaId, opened('waba', { code: '131042', nowMs: sinceMs }));
    await wabas.change(wabaId, opened('utility', { code: '131064', nowMs: sinceMs }));
    await breakers.change(await breakers.find(), breakerOpened(sinceMs));
    await expect(holds('--end', 'waba')).rejects.toMatchObject({
      exitStatus: 1,
      message: `Not held: waba; held: 'platform', 'waba ${wabaId}', 'utility of waba ${wabaId}'`,
    });
    await expect(holds('--end', 'waba', wabaId)).rejects.toMatchObject({ exitStatus: 2 });
    for (const scope of [`waba ${wabaId}`, 'platform']) {
      expect(await holds('--end', scope)).toEqual([
        `Held no more: ${scope}. What waits for it goes on by itself within minutes.`,
      ]);
    }
    expect(Object.keys((await wabas.find(wabaId)).holds)).toEqual(['utility']);
    expect((await breakers.find()).open).toBeUndefined();
  });

  test('a WABA that is provisioned no more is looked at as long as a dispatch of it waits', async () => {
    await wabas.change('W2', opened('waba', { code: '131031', nowMs: sinceMs }));
    const lines = await holds();
    expect(lines[1]).toMatch(/ waba W2$/);
    expect(idsIn(lines.filter((line) => line.endsWith('waba W2')))).toEqual([other.dispatchId]);
    await wabas.change('W2', ended('waba', sinceMs, nowMs));
  });

  test('a hold that has begun since it was shown is another one', async () => {
    const holds = openHolds(stored);
    await wabas.change(wabaId, opened('waba', { code: '131042', nowMs: sinceMs }));
    await breakers.change(await breakers.find(), breakerOpened(sinceMs));
    const shown = await holds.list([wabaId]);
    await wabas.change(wabaId, ended('waba', sinceMs, nowMs));
    await wabas.change(wabaId, opened('waba', { code: '131042', nowMs }));
    await breakers.change(await breakers.find(), closed);
    await breakers.change(await breakers.find(), breakerOpened(nowMs));
    for (const hold of shown) expect(await holds.end(hold)).toBe(true);
    expect((await holds.list([wabaId])).map((hold) => hold.sinceMs)).toEqual([nowMs, nowMs]);
  });
});
