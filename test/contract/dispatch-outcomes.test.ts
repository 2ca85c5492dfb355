import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resourceName } from '../../infra/names.ts';
import { sendEntry } from '../../lib/aws/sqs-batch.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { encodeSenderWake } from '../../lib/messages/dispatch/sender-wake.ts';
import type { PlacedOutcome } from '../../lib/messages/report/outcomes-store.ts';
import { addressOf } from '../support/addresses.ts';
import { eventually, platform, synchronize } from '../support/api.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { sendOrders } from '../support/order-updates.ts';
import { endingsOf, messagesHeld, outcomesOn, queueClientAt, runningTarget } from '../support/running-target.ts';

interface Fate {
  readonly what: string;
  readonly to: string;
  /** The simulator applies this fault to the recipient; magic recipients need none. */
  readonly fault?: { readonly action: object; readonly times?: number };
  readonly ending: readonly [state: PlacedOutcome['state'], code?: string];
  /** The platform gets so many requests, whatever it answers. */
  readonly requests: number;
  readonly taken: 0 | 1;
}

/** These recipients share a request that is large enough for the backlog. */
const fatesOfMany: readonly Fate[] = [
  { what: 'nothing unusual', to: '549210000001', ending: ['sent'], requests: 1, taken: 1 },
  {
    what: 'undeliverable, and refused at once',
    to: '15550231026',
    ending: ['failed', '131026'],
    requests: 1,
    taken: 0,
  },
  {
    what: 'marketing stopped, and refused at once',
    to: '549210000009',
    fault: { action: { code: 131050 } },
    ending: ['failed', '131050'],
    requests: 1,
    taken: 0,
  },
  { what: 'HTTP 500', to: '15550000500', ending: ['unknown', '131000'], requests: 1, taken: 0 },
  { what: 'HTTP 502 with a page', to: '15550000502', ending: ['unknown', 'http_502'], requests: 1, taken: 0 },
  { what: 'no answer in time', to: '15550000504', ending: ['unknown', 'no_answer'], requests: 1, taken: 0 },
  { what: 'connection closed', to: '15550000100', ending: ['unknown', 'no_answer'], requests: 1, taken: 0 },
  { what: 'taken, the answer lost', to: '15550000200', ending: ['unknown', 'no_answer'], requests: 1, taken: 1 },
  {
    what: 'held for its quality',
    to: '15550000201',
    ending: ['held', 'held_for_quality_assessment'],
    requests: 1,
    taken: 1,
  },
  { what: 'held because paused', to: '15550000202', ending: ['held', 'paused'], requests: 1, taken: 1 },
  {
    what: 'taken under an unknown word',
    to: '549210000008',
    fault: { action: { message_status: 'teleported' } },
    ending: ['sent'],
    requests: 1,
    taken: 1,
  },
  { what: 'throttled twice', to: '15550130429', ending: ['sent'], requests: 3, taken: 1 },
  {
    what: 'HTTP 429 without a platform error, once',
    to: '549210000002',
    fault: { action: { status: 429, html: 'slow down' }, times: 1 },
    ending: ['sent'],
    requests: 2,
    taken: 1,
  },
  {
    what: 'HTTP 503, temporarily unavailable',
    to: '549210000003',
    fault: { action: { status: 503, code: 2 } },
    ending: ['unknown', '2'],
    requests: 1,
    taken: 0,
  },
  {
    what: 'HTTP 200 with a page',
    to: '549210000004',
    fault: { action: { status: 200, html: true } },
    ending: ['unknown', 'http_200'],
    requests: 1,
    taken: 0,
  },
  {
    what: 'HTTP 400 with a page',
    to: '549210000005',
    fault: { action: { status: 400, html: true } },
    ending: ['unknown', 'http_400'],
    requests: 1,
    taken: 0,
  },
  {
    what: 'parameters of another template',
    to: '549210000006',
    fault: { action: { code: 132012 } },
    ending: ['failed', '132012'],
    requests: 1,
    taken: 0,
  },
  {
    what: 'taken after eight seconds',
    to: '549210000007',
    fault: { action: { delay_ms: 8_000 } },
    ending: ['sent'],
    requests: 1,
    taken: 1,
  },
];

/** These recipients share a request that goes straight to the workers of small ones. */
const fatesOfFew: readonly Fate[] = [
  { what: 'one of few', to: '549210000011', ending: ['sent'], requests: 1, taken: 1 },
  {
    what: 'one of few, throttled once',
    to: '549210000012',
    fault: { action: { status: 429, html: 'slow down' }, times: 1 },
    ending: ['sent'],
    requests: 2,
    taken: 1,
  },
  {
    what: 'one of few, refused at once',
    to: '549210000013',
    fault: { action: { code: 131026 } },
    ending: ['failed', '131026'],
    requests: 1,
    taken: 0,
  },
  {
    what: 'one of few, taken, the answer lost',
    to: '549210000014',
    fault: { action: { drop: 'after' } },
    ending: ['unknown', 'no_answer'],
    requests: 1,
    taken: 1,
  },
];

const fates = [...fatesOfMany, ...fatesOfFew];
const alwaysThrottled = '15550230429';
const target = runningTarget();
const sqs = queueClientAt(addressOf('sqsEndpoint'));
const queueUrl = (purpose: string) => addressOf('queueUrls')[resourceName('local', purpose)] ?? '';
const dispatchIds: string[] = [];
let endings: ReadonlyMap<string | undefined, PlacedOutcome>;
let expired: readonly PlacedOutcome[];

async function accept(recipients: readonly string[]): Promise<string> {
  const dispatchId = await sendOrders(recipients);
  dispatchIds.push(dispatchId);
  return dispatchId;
}

interface Asked {
  readonly to?: string;
  readonly biz_opaque_callback_data?: string;
}

/** Other files send to the same magic recipients, so only dispatches of this file count. */
const ours = ({ biz_opaque_callback_data: data = '' }: Asked) =>
  dispatchIds.some((dispatchId) => data.startsWith(dispatchId));

async function requestsTo(to: string): Promise<number> {
  const { body } = await platform('GET /_control/requests?method=POST&path=/messages&limit=1000000');
  return body.data.filter((request: { body: Asked }) => request.body.to === to && ours(request.body)).length;
}

async function messagesTo(to: string) {
  const { body } = await platform(`GET /_control/messages?to=${to}&limit=1000000`);
  return body.data.filter((message: { request: Asked }) => ours(message.request));
}

/** Queues a dispatch that expires after `lifeMs`. The API accepts none with less than 30 seconds. */
async function queueShortLived(to: string, lifeMs: number): Promise<string> {
  const dispatchId = ulid();
  const acceptedAtMs = Date.now();
  const dispatch = makeDispatch([{ to, params: { body: ['Ana', 'A-1'], buttons: ['A-1'] } }], {
    ...{ dispatchId, credential: 'demo', acceptedAtMs, expiresAtMs: acceptedAtMs + lifeMs },
  });
  const table = target.tableName('messages');
  const signal = AbortSignal.timeout(5_000);
  const dispatches = acceptedDispatchesStore(tableOf(target.documentClient, table, { nowMs: Date.now }));
  await dispatches.store(dispatch, signal);
  await dispatches.begin(dispatch.head);
  const { phoneNumberId } = dispatch.head;
  const wake = encodeSenderWake({ phoneNumberId, dispatchId, part: 0, of: 1, delaySeconds: 0 });
  await sendEntry({ client: sqs, url: queueUrl('dispatch') }, { body: wake, group: phoneNumberId, delaySeconds: 0 });
  dispatchIds.push(dispatchId);
  return dispatchId;
}

/** A busy machine may take longer than a short life until the first call. A longer life then shows the same. */
async function expiredAfterCalls(): Promise<readonly PlacedOutcome[]> {
  for (const lifeMs of [6_000, 12_000, 24_000]) {
    const outcomes = await endingsOf(outcomesOn(target), await queueShortLived(alwaysThrottled, lifeMs), 80_000);
    if ((await requestsTo(alwaysThrottled)) > 0) return outcomes;
  }
  throw new Error('no call was made within 24 seconds');
}

// All sends run at the same time, because the slowest decides how long the file takes.
beforeAll(async () => {
  await synchronize('supervisor1001');
  for (const { to, fault } of fates) {
    if (fault !== undefined) await platform('POST /_control/faults', { match: { to }, ...fault });
  }
  const outcomes = outcomesOn(target);
  const accepted = [await accept(fatesOfMany.map(({ to }) => to)), await accept(fatesOfFew.map(({ to }) => to))];
  const endingsOfAll = Promise.all(accepted.map((dispatchId) => endingsOf(outcomes, dispatchId)));
  const [all, ofShortLived] = await Promise.all([endingsOfAll, expiredAfterCalls()]);
  expired = ofShortLived;
  endings = new Map(all.flat().map((outcome) => [outcome.to, outcome]));
  // Only empty queues prove that no message is sent again.
  for (const purpose of ['urgent', 'dispatch']) {
    await eventually(`the queue ${purpose} is empty`, async () =>
      (await messagesHeld(sqs, queueUrl(purpose))) === 0 ? true : undefined,
    );
  }
}, 150_000);

afterAll(async () => {
  await platform('DELETE /_control/faults').catch(() => undefined);
  sqs.destroy();
});

describe('every accepted recipient ends in exactly one outcome (D29, R14)', () => {
  test.each(fates)('$what: $ending', async ({ to, ending: [state, code], requests, taken }) => {
    const { messageId, platformMessageId, reason, atMs: _at, position: _place, ...rest } = endings.get(to) ?? {};
    expect(rest).toEqual({ to, state, code });
    const messages = await messagesTo(to);
    expect(messages.length).toBe(taken);
    expect(await requestsTo(to)).toBe(requests);
    if (state === 'sent' || state === 'held') {
      expect(platformMessageId).toBe(messages[0].id);
      expect(messages[0].request.biz_opaque_callback_data).toBe(messageId);
    } else expect(platformMessageId).toBeUndefined();
    // A refusal has a reason in the platform's words.
    if (state === 'failed') expect(reason).toEqual(expect.stringMatching(/\w/));
  });

  test('none is missing and none is there twice', () => {
    expect([...endings.keys()].sort()).toEqual(fates.map(({ to }) => to).sort());
  });

  test('throttled until its time is over: expired, never sent (D27)', async () => {
    expect(expired).toEqual([expect.objectContaining({ to: alwaysThrottled, state: 'expired', code: 'expired' })]);
    expect(await messagesTo(alwaysThrottled)).toEqual([]);
  });
});
