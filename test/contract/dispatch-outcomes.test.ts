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
import { rows } from '../support/rows.ts';
import { endingsOf, messagesHeld, outcomesOn, queueClientAt, runningTarget } from '../support/running-target.ts';
import { dispatchTo } from '../support/sends.ts';

/**
 * The simulator applies a fault to the recipient, sometimes only once; magic recipients need none. The platform gets so
 * many requests, whatever it answers, and takes so many messages.
 */
const fatesOf = (text: ReturnType<typeof rows>) =>
  text.map(([to = '', what = '', ending = '', requests = '', taken = '', action = '', times = '']) => ({
    ...{ to, what, ending, requests: Number(requests), taken: Number(taken) },
    fault: action === '' ? undefined : { action: JSON.parse(action), ...(times && { times: Number(times) }) },
  }));

/** These recipients share a request that is large enough for the backlog. */
const fatesOfMany = fatesOf(rows`
  549210000001 | nothing unusual                      | sent            | 1 | 1
  15550231026  | undeliverable, and refused at once   | failed 131026   | 1 | 0
  549210000009 | marketing stopped, refused at once   | failed 131050   | 1 | 0 | {"code":131050}
  15550000500  | HTTP 500                             | unknown 131000  | 1 | 0
  15550000502  | HTTP 502 with a page                 | unknown http_502  | 1 | 0
  15550000504  | no answer in time                    | unknown no_answer | 1 | 0
  15550000100  | connection closed                    | unknown no_answer | 1 | 0
  15550000200  | taken, the answer lost               | unknown no_answer | 1 | 1
  15550000201  | held for its quality                 | held held_for_quality_assessment | 1 | 1
  15550000202  | held because paused                  | held paused     | 1 | 1
  549210000008 | taken under an unknown word          | sent            | 1 | 1 | {"message_status":"teleported"}
  15550130429  | throttled twice                      | sent            | 3 | 1
  549210000002 | HTTP 429 without a platform error    | sent            | 2 | 1 | {"status":429,"html":"slow down"} | 1
  549210000003 | HTTP 503, temporarily unavailable    | unknown 2       | 1 | 0 | {"status":503,"code":2}
  549210000004 | HTTP 200 with a page                 | unknown http_200 | 1 | 0 | {"status":200,"html":true}
  549210000005 | HTTP 400 with a page                 | unknown http_400 | 1 | 0 | {"status":400,"html":true}
  549210000006 | parameters of another template       | failed 132012   | 1 | 0 | {"code":132012}
  549210000007 | taken after eight seconds            | sent            | 1 | 1 | {"delay_ms":8000}
`);

/** These recipients share a request that goes straight to the workers of small ones. */
const fatesOfFew = fatesOf(rows`
  549210000011 | one of few                           | sent            | 1 | 1
  549210000012 | one of few, throttled once           | sent            | 2 | 1 | {"status":429,"html":"slow down"} | 1
  549210000013 | one of few, refused at once          | failed 131026   | 1 | 0 | {"code":131026}
  549210000014 | one of few, taken, the answer lost   | unknown no_answer | 1 | 1 | {"drop":"after"}
`);

const fates = [...fatesOfMany, ...fatesOfFew];
const alwaysThrottled = '15550230429';
const target = runningTarget();
const sqs = queueClientAt(addressOf('sqsEndpoint'));
const queueUrl = (purpose: string) => addressOf('queueUrls')[resourceName('local', purpose)] ?? '';
const dispatchIds: string[] = [];
let endings: ReadonlyMap<string | undefined, PlacedOutcome>;
let expired: readonly PlacedOutcome[];

async function accept(recipients: readonly string[]): Promise<string> {
  const dispatchId = await dispatchTo(recipients);
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
  test.each(fates)('$what: $ending', async ({ to, ending, requests, taken }) => {
    const [state, code] = ending.split(' ');
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
