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
import { perSecondOf, slowedDown } from '../../../lib/messages/pace/number-pace.ts';
import { paceStore } from '../../../lib/messages/pace/pace-store.ts';
import { laneOf, reserve } from '../../../lib/messages/pace/reserve.ts';
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
let paces: ReturnType<typeof paceStore>;
let messages: Table;

beforeAll(async () => {
  ({ target } = await provisioningTarget());
  const channels = demo.channels.map((each) => ({ ...each, throughput_per_second: 80 }));
  await provision({ ...demo, channels }, target, { nowMs: () => startMs });
  messages = tableOf(client, target.tableName('messages'), { nowMs: () => nowMs });
  paces = paceStore(messages, { newWriter: randomUUID });
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

test('says limit, pace, senders, and what the platform says now', async () => {
  const { lines, error } = await run(did);
  expect(error).toBeUndefined();
  expect(lines).toEqual([
    `did ${did}: number ${phoneNumberId} of waba ${wabaId}, channel ${channel?.channel_id}`,
    'limit     80 a second, as provisioned',
    'pace      80 a second now, 72 of them for all but one-time codes',
    'platform  status ACTIVE, quality YELLOW, level STANDARD',
    expect.stringMatching(/^senders {3}client \d+/),
    'held      nothing of this number',
    'waiting   nothing has a slot of this number',
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
  expect(lines).toHaveLength(7);
});

test('shows which clients have slots, what the service learnt from a refusal, and what is held', async () => {
  const wave = { phoneNumberId, limitPerSecond: 80, clientId: 1001 };
  const dispatchId = ulid(nowMs - 60_000);
  const dispatch = makeDispatch(makeRecipients(300), {
    dispatchId,
    did,
    wabaId,
    phoneNumberId,
    acceptedAtMs: nowMs - 60_000,
  });
  const accepted = acceptedDispatchesStore(tableOf(client, messages.name, { nowMs: () => nowMs }));
  await accepted.store(dispatch, AbortSignal.timeout(10_000));
  await accepted.begin(dispatch.head, AbortSignal.timeout(10_000));
  await accepted.list(dispatch, AbortSignal.timeout(10_000));
  await reserve(paces, { ...wave, lane: laneOf(dispatchId, 300), count: 250 }, nowMs);
  await reserve(paces, { ...wave, lane: laneOf(ulid(nowMs), 300), count: 1 }, nowMs);
  await reserve(paces, { ...wave, lane: '*', count: 5 }, nowMs);
  await paces.change(phoneNumberId, undefined, (pace) => ({ pace: slowedDown(pace, 80, nowMs), result: 0 }));
  await holdStore(messages).change(wabaId, opened(`number:${phoneNumberId}`, { code: '133010', nowMs }));
  await holdStore(messages).change(wabaId, opened('number:31', { code: '133010', nowMs }));
  const { lines } = await run(did);
  expect(lines).toContain('pace      60 a second now, 54 of them for all but one-time codes');
  expect(lines).toContain('held');
  expect(lines).toContainEqual(
    expect.stringMatching(new RegExp(`^ {2}133010 .+ number ${phoneNumberId} of waba ${wabaId}$`)),
  );
  expect(lines.join('\n')).not.toContain('number 31 ');
  expect(lines).toContainEqual(
    expect.stringMatching(`^ {2}client 1001, dispatch ${dispatchId}: \\d+ slots, the last at 2026`),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}client 1001, dispatch \.\.\.[0-9A-Z]{8}: 1 slot, /));
  expect(lines.filter((line) => line.startsWith('  DISPATCH ') || line.startsWith(`  ${dispatchId} `))).toHaveLength(2);
  expect(lines.at(-1)).toMatch(/^ {2}total 300: /);
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}client 1001, small requests: 5 slots/));
});

test('--json has the same facts as one document', async () => {
  const { lines } = await run(did, '--json');
  expect(JSON.parse(lines.join('\n'))).toMatchObject({
    ...{ did, phone_number_id: phoneNumberId, waba_id: wabaId },
    limit: { per_second: 80, origin: 'as provisioned' },
    platform: { status: 'ACTIVE', quality_rating: 'YELLOW', throughput_level: 'STANDARD' },
    held: [{ code: '133010' }],
    waiting: expect.arrayContaining([expect.objectContaining({ client_id: 1001, of: 'small requests', slots: 5 })]),
    dispatches: [{ client_id: 1001, total: 300 }],
  });
});

test('--limit caps a number for a time, keeps reserved slots, and ends by itself or with --limit none (D43)', async () => {
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
  expect(capped.schedule.nextPosition).toBe(before.schedule.nextPosition);
  expect(perSecondOf(80, capped, startMs + 14_400_000)).toBe(80);
  nowMs = startMs + 14_400_000;
  expect((await run(did)).lines.join('\n')).not.toContain('cap ');
  nowMs = startMs;
  const { lines } = await run(did, '--limit', 'none');
  expect(lines.join('\n')).not.toContain('cap ');
  expect((await paces.find(phoneNumberId)).capped).toBeUndefined();
});

test.each([
  [[did, '--limit', '80', '--for', '4h'], 1, 'the number may send 80 a second, so a cap must be less, not 80'],
  [['5490000000000'], 1, 'There is no DID 5490000000000'],
  [[did, '--limit', '20'], 2, '--limit N needs --for TIME'],
  [[did, '--limit', '0', '--for', '4h'], 2, '--limit takes messages a second, or none, not 0'],
  [[did, '--limit', '20', '--for', '8d'], 2, '7d at most, not 8d'],
  [[did, '--limit', '20', '--for', 'ever'], 2, '--for takes a time such as 30m'],
  [[did, '--limit', 'none', '--for', '4h'], 2, 'without --for'],
  [[did, '--for', '4h'], 2, '--for goes with --limit N'],
  [[], 2, 'infra/ops number DID'],
])('%j is refused with status %i, and nothing is changed', async (typed, exitStatus, message) => {
  const before = await paces.find(phoneNumberId);
  const { error } = await run(...typed);
  expect(error).toMatchObject({ exitStatus, message: expect.stringContaining(message) });
  expect(await paces.find(phoneNumberId)).toEqual(before);
});
