import { randomUUID } from 'node:crypto';
import { ulid } from 'ulid';
import { beforeAll, expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { numberCommand, numberStage } from '../../../infra/operate/see/number.ts';
import { provision } from '../../../infra/operate/tables/provisioning-run.ts';
import type { Target } from '../../../infra/operate/target.ts';
import { type Table, tableOf } from '../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../lib/messages/accept/accepted-dispatches-store.ts';
import { opened } from '../../../lib/messages/holds/hold.ts';
import { holdStore } from '../../../lib/messages/holds/hold-store.ts';
import { perSecondOf, slowedDown } from '../../../lib/messages/pace/known-pace.ts';
import { knownPaceStore } from '../../../lib/messages/pace/known-pace-store.ts';
import { backlogStore } from '../../../lib/messages/sender/backlog-store.ts';
import { partMoved } from '../../../lib/messages/sender/entry-progress.ts';
import { senderStateStore } from '../../../lib/messages/sender/sender-state-store.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { PlatformTransport } from '../../../lib/platform/transport.ts';
import { makeDispatch, makeRecipients } from '../../support/made-dispatches.ts';
import { operatorAuditInMemory } from '../../support/operator-audit.ts';
import { provisioningTarget } from '../../support/provisioning-target.ts';
import { localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const startMs = Date.parse('2026-11-26T12:00:00Z');
let nowMs = startMs;
const [channel] = demo.channels;
const { did = '', phone_number_id: phoneNumberId = '', waba_id: wabaId = '' } = channel ?? {};
let target: Target;
let paces: ReturnType<typeof knownPaceStore>;
let messages: Table;

beforeAll(async () => {
  ({ target } = await provisioningTarget());
  const channels = demo.channels.map((each) => ({ ...each, throughput_per_second: 80 }));
  await provision({ ...demo, channels }, target, { nowMs: () => startMs });
  messages = tableOf(client, target.tableName('messages'), { nowMs: () => nowMs });
  paces = knownPaceStore(messages, { newWriter: randomUUID });
});

let call: PlatformTransport = async ({ path, accessToken }) => ({
  body: {
    data: [
      { id: 'another' },
      ...(path === `${wabaId}/phone_numbers` && accessToken === 'demo-platform-token'
        ? [{ id: phoneNumberId, status: 'CONNECTED', quality_rating: 'YELLOW', throughput: { level: 'STANDARD' } }]
        : []),
    ],
  },
});

const audited = operatorAuditInMemory();

async function run(...typed: string[]) {
  const lines: string[] = [];
  const error = await numberCommand(
    typed,
    () => numberStage(target, call, { nowMs: () => nowMs, audit: audited.audit }),
    (line) => void lines.push(line),
  ).catch((reason: unknown) => reason);
  return { lines, error };
}

test('says limit, pace, clients, sender, backlog, and what the platform says now', async () => {
  const { lines, error } = await run(did);
  expect(error).toBeUndefined();
  expect(lines).toEqual([
    `did ${did}: number ${phoneNumberId} of waba ${wabaId}, channel ${channel?.channel_id}`,
    'limit     80 a second, as provisioned',
    'pace      80 a second now, 72 of them for all but one-time codes',
    'platform  status ACTIVE, quality YELLOW, level STANDARD',
    expect.stringMatching(/^clients {3}\d+/),
    'held      nothing of this number',
    'sender    none',
    'backlog   empty',
  ]);
});

test('shows that the platform could not be asked, and all other facts', async () => {
  const answers = call;
  call = async () => {
    throw new PlatformFailure('refused', { code: 190, httpStatus: 401 });
  };
  const { lines } = await run(did);
  call = answers;
  expect(lines).toContainEqual(expect.stringMatching(/^platform {2}could not be asked: /));
  expect(lines).toHaveLength(8);
});

const ids = { begun: ulid(startMs - 60_000), front: ulid(startMs - 50_000), later: ulid(startMs - 40_000) };

async function acceptAll(): Promise<void> {
  const accepted = acceptedDispatchesStore(messages);
  const backlog = backlogStore(messages);
  for (const [at, dispatchId] of Object.values(ids).entries()) {
    const facts = { dispatchId, did, wabaId, phoneNumberId, clientId: 1001 + at, acceptedAtMs: startMs - 60_000 };
    const dispatch = makeDispatch(makeRecipients(300), facts);
    await accepted.store(dispatch, AbortSignal.timeout(10_000));
    await accepted.begin(dispatch.head, AbortSignal.timeout(10_000));
  }
  const entries = new Map((await backlog.of(phoneNumberId)).map((entry) => [entry.dispatchId, entry]));
  const entryOf = (dispatchId: string) => entries.get(dispatchId) ?? expect.unreachable();
  const moved = (dueMs: number, failures?: number) =>
    partMoved({ part: { part: 0, of: 1 }, progress: { floor: 10, dueMs, failures }, seenNewsMs: undefined });
  await backlog.change(entryOf(ids.begun), moved(startMs));
  await backlog.change(entryOf(ids.front), (entry) => ({ ...entry, front: true }));
  await backlog.change(entryOf(ids.later), moved(startMs + 60_000, 2));
}

test('shows who sends, the backlog in order, and what each dispatch waits for, within 80 columns', async () => {
  await acceptAll();
  await senderStateStore(messages)({ phoneNumberId, part: 0, of: 1 }).change((state) => ({
    ...{ ...state, wakeAtMs: nowMs + 30_000, service: { 1001: 20, 1002: 50, 1003: 0 }, lost: 2 },
    lease: { owner: 'run-1/lease-1', untilMs: nowMs + 25_000, messages: [] },
  }));
  await paces.change(phoneNumberId, (pace) => slowedDown(pace, 80, nowMs));
  await holdStore(messages).change(wabaId, opened('number:31', { code: '133010', nowMs }));
  const { lines } = await run(did);
  expect(lines).toContain('pace      60 a second now, 54 of them for all but one-time codes');
  expect(lines.slice(lines.indexOf('sender    run-1/lease-1'))).toEqual([
    'sender    run-1/lease-1',
    '          its lease lasts until 2026-11-26T12:00:25.000Z',
    '          its next wake comes at 2026-11-26T12:00:30.000Z',
    '          2 leases in a row were lost: a dispatch may kill its process',
    '          served beyond the least: client 1001 20, client 1002 50, client 1003 0',
    'backlog   3 dispatches, some 700 recipients left; the next one first',
    expect.stringMatching(/^DISPATCH +CLIENT +LEFT +DUE +WAITS_FOR$/),
    `${ids.front}  1002     300  -                     front turn`,
    `${ids.later}  1003     200  2026-11-26T12:01:00Z  poison`,
    `${ids.begun}  1001     200  -                     turn`,
  ]);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.join('\n')).not.toContain('number 31 ');
});

test('shows what is held, and that a lease was not given back', async () => {
  await holdStore(messages).change(wabaId, opened(`number:${phoneNumberId}`, { code: '133010', nowMs }));
  nowMs = startMs + 26_000;
  const { lines } = await run(did);
  nowMs = startMs;
  expect(lines).toContainEqual(
    expect.stringMatching(new RegExp(`^ {2}133010 .+ number ${phoneNumberId} of waba ${wabaId}$`)),
  );
  expect(lines).toContain('sender    none');
  expect(lines).toContain('          its lease was not given back, over at 2026-11-26T12:00:25.000Z');
  expect(lines.filter((line) => line.endsWith(' hold 133010'))).toHaveLength(2);
});

test('--json has the same facts as one document', async () => {
  const { lines } = await run(did, '--json');
  expect(JSON.parse(lines.join('\n'))).toMatchObject({
    ...{ did, phone_number_id: phoneNumberId, waba_id: wabaId },
    limit: { per_second: 80, origin: 'as provisioned' },
    platform: { status: 'ACTIVE', quality_rating: 'YELLOW', throughput_level: 'STANDARD' },
    held: [{ code: '133010' }],
    senders: [{ part: 0, owner: 'run-1/lease-1', leases_lost: 2, service: { 1001: 20 } }],
    backlog: [
      { dispatch_id: ids.front, client_id: 1002, recipients_left: 300, front: true, waits_for: 'hold', code: '133010' },
      { dispatch_id: ids.later, front: false, due: '2026-11-26T12:01:00.000Z', waits_for: 'poison', failures: 2 },
      { dispatch_id: ids.begun, client_id: 1001, recipients_left: 200, waits_for: 'hold' },
    ],
  });
});

test('--limit caps a number for a time, keeps what was learnt, and ends by itself or with --limit none (D43)', async () => {
  const before = await paces.find(phoneNumberId);
  expect((await run(did, '--limit', '20', '--for', '4h')).lines).toContain(
    'cap       20 a second until 2026-11-26T16:00:00.000Z, by an operator',
  );
  expect(audited.entries).toMatchObject([
    { what: 'command.number_limit', on: { did, wabaId, how: '20 a second for 4h' }, outcome: 'begun' },
    { what: 'command.number_limit', outcome: 'done', ends: audited.entries[0]?.id },
  ]);
  const capped = await paces.find(phoneNumberId);
  expect(capped).toMatchObject({
    version: before.version + 1,
    capped: { perSecond: 20, untilMs: startMs + 14_400_000 },
  });
  expect(capped.learned).toEqual(before.learned);
  expect(perSecondOf(80, capped, startMs + 14_400_000)).toBe(80);
  nowMs = startMs + 14_400_000;
  expect((await run(did)).lines.join('\n')).not.toContain('cap ');
  nowMs = startMs;
  const { lines } = await run(did, '--limit', 'none');
  expect(lines.join('\n')).not.toContain('cap ');
  expect((await paces.find(phoneNumberId)).capped).toBeUndefined();
});

test.each([
  [[did, '--limit', '80', '--for', '4h'], 'the number may send 80 a second, so a cap must be less, not 80'],
  [['5490000000000'], 'There is no DID 5490000000000'],
])('%j is refused, and nothing is changed', async (typed, message) => {
  const before = await paces.find(phoneNumberId);
  const { error } = await run(...typed);
  expect(error).toMatchObject({ exitStatus: 1, message: expect.stringContaining(message) });
  expect(await paces.find(phoneNumberId)).toEqual(before);
});
