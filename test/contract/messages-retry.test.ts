import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, as, type DemoUser, platform, synchronize } from '../support/api.ts';
import { offer, order, reportOf, sendTo } from '../support/sends.ts';

/* A retry sends again to recipients that failed for a temporary cause, and to none twice (D57, R55). */

const did = '5491100000001';
const personOf = (at: number) => `54922000${String(at).padStart(4, '0')}`;
/** The simulator fails the first messages to these recipients: 132069 is temporary, and the client may name 131026. */
const faults: readonly { readonly at: number; readonly code: number; readonly times: number }[] = [
  { at: 2, code: 132069, times: 1 },
  { at: 5, code: 132069, times: 2 },
  { at: 9, code: 132069, times: 1 },
  { at: 4, code: 131026, times: 1 },
  { at: 7, code: 131008, times: 1 },
];
const dispatchIds: string[] = [];
let source = '';

const send = async (people: readonly number[], of = order) =>
  accepted(await sendTo(people.map(personOf), { of, more: { campaignId: 10, attends: { a: 1 } } }));
const numbered = {
  ...order,
  params: (to: string) => ({ body: ['Ana', `A-${Number(to.slice(-4))}`], buttons: ['A-1'] }),
};

function accepted(reply: ApiReply): string {
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('success')]);
  const dispatchId = reply.headers.get('dispatch-id') ?? '';
  dispatchIds.push(dispatchId);
  return dispatchId;
}

interface Asking {
  readonly codes?: readonly string[];
  readonly key?: string;
  readonly dryRun?: true;
  readonly sendAt?: string;
  readonly username?: DemoUser;
}

async function retry(dispatchId: string, { codes, key, dryRun, sendAt, username = 'supervisor1001' }: Asking = {}) {
  const headers: Record<string, string> = {
    ...(key && { 'Idempotency-Key': key }),
    ...(dryRun && { 'Dry-Run': 'true' }),
    ...(sendAt && { 'Send-At': sendAt }),
  };
  const body = codes === undefined ? {} : { codes };
  return await as(username, `POST /v1/template/messages/${did}/${dispatchId}/retry`, body, headers);
}

/** Returns the texts of this file's messages that the platform took for a recipient. */
async function takenBy(at: number): Promise<string[]> {
  const { body } = await platform(`GET /_control/messages?to=${personOf(at)}&limit=1000000`);
  const ours = body.data.filter(({ request }: { request: { biz_opaque_callback_data?: string } }) =>
    dispatchIds.some((dispatchId) => request.biz_opaque_callback_data?.startsWith(dispatchId)),
  );
  return ours.map(({ request }: { request: { template: { components: { parameters: { text: string }[] }[] } } }) =>
    request.template.components[0]?.parameters.map(({ text }) => text).join(),
  );
}

beforeAll(async () => {
  await synchronize('supervisor1001');
  for (const { at, code, times } of faults) {
    await platform('POST /_control/faults', { match: { to: personOf(at) }, action: { code }, times });
  }
  source = await send([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2], numbered);
  const { counts } = await reportOf(source);
  // The repeated recipient counts as its first occurrence.
  expect([counts.sent, counts.failed]).toEqual([6, 6]);
}, 120_000);

afterAll(async () => {
  await platform('DELETE /_control/faults').catch(() => undefined);
});

describe('a dispatch is retried', () => {
  test('a rehearsal says to how many, and marks no recipient as retried', async () => {
    const { status, body } = await retry(source, { dryRun: true });
    expect([status, body.dry_run, body.recipients, body.estimate.cost.currency]).toEqual([200, true, 3, 'USD']);
    // A time in the past is refused for itself, whatever the state of the dispatch (D56).
    const late = await retry(source, { dryRun: true, sendAt: '2026-01-01T09:00:00Z' });
    expect([late.status, late.body.code, late.body.errors[0].path]).toEqual([400, 'invalid_request', 'Send-At']);
  });

  test('by two requests at once: one is accepted; each recipient whose cause may pass is sent to once, in order', async () => {
    const replies = await Promise.all([retry(source), retry(source)]);
    const won = replies.filter(({ status }) => status === 200);
    const lost = replies.filter(({ status }) => status !== 200);
    expect(lost.map(({ status, body }) => [status, body.code])).toEqual([
      [409, expect.stringMatching(/^(?:nothing_to_retry|request_in_progress)$/)],
    ]);
    const first = accepted(won[0] as ApiReply);
    const report = await reportOf(first);
    expect([report.retry_of, report.total, report.campaign_id]).toEqual([source, 3, 10]);
    expect(report.data.map(({ to, state }: { to: string; state: string }) => [to, state])).toEqual([
      [personOf(2), 'sent'],
      [personOf(5), 'failed'],
      [personOf(9), 'sent'],
    ]);
    expect(await takenBy(2)).toEqual(['Ana,A-2']);
    expect((await reportOf(source)).retried_by).toEqual([first]);

    const again = await retry(source);
    expect([again.status, again.body.code, again.body.retried_by]).toEqual([409, 'nothing_to_retry', [first]]);
    // A recipient that the retry did not reach is retried from it.
    const second = await reportOf(accepted(await retry(first)));
    expect([second.retry_of, second.total, second.counts.sent]).toEqual([first, 1, 1]);
    expect(await takenBy(5)).toEqual(['Ana,A-5']);
  });

  test('by named codes and a key: the same request is the same dispatch, another one is 422', async () => {
    const named = { codes: ['131026', '131008'], key: `retry-${source}` };
    const dispatchId = accepted(await retry(source, named));
    const repeated = await retry(source, named);
    expect([repeated.status, repeated.headers.get('dispatch-id')]).toEqual([200, dispatchId]);
    const other = await retry(source, { ...named, codes: ['131026'] });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    const { total, counts } = await reportOf(dispatchId);
    // A failure with 131008 is never retried, even when a client names it.
    expect([total, counts.sent]).toEqual([1, 1]);
    const list = await as('supervisor1001', `GET /v1/template/messages/${did}?limit=100`);
    const listed = list.body.data.find(({ dispatch_id }: { dispatch_id: string }) => dispatch_id === dispatchId);
    expect(listed.retry_of).toBe(source);
  });

  test('a code that no report has is named', async () => {
    const { status, body } = await retry(source, { codes: ['131026', 'canceled'] });
    expect([status, body.code, body.errors]).toEqual([
      400,
      'invalid_request',
      [{ path: 'codes[1]', message: expect.stringContaining('"canceled"') }],
    ]);
  });

  test('without those who have opted out by then; who has opted in again is in the next one (D57)', async () => {
    for (const at of [31, 32]) {
      await platform('POST /_control/faults', { match: { to: personOf(at) }, action: { code: 132069 }, times: 1 });
    }
    const offers = await send(
      Array.from({ length: 11 }, (_, at) => 30 + at),
      offer,
    );
    expect((await reportOf(offers)).counts.failed).toBe(2);
    const says = async (method: 'PUT' | 'DELETE', at: number) =>
      await as('supervisor1001', `${method} /v1/opt-outs/${personOf(at)}`);
    const retried = async () => {
      const { total, data } = await reportOf(accepted(await retry(offers)));
      return [total, data.map(({ to }: { to: string }) => to)];
    };

    await says('PUT', 31);
    expect((await retry(offers, { dryRun: true })).body.recipients).toBe(1);
    await says('PUT', 32);
    const nobody = await retry(offers);
    expect([nobody.status, nobody.body.code]).toEqual([409, 'nothing_to_retry']);
    expect(nobody.body.message).toMatch(/; 2 of its recipients have opted out since$/);
    await says('DELETE', 32);
    expect(await retried()).toEqual([1, [personOf(32)]]);
    await says('DELETE', 31);
    expect(await retried()).toEqual([1, [personOf(31)]]);
  });

  test('of another client it is none; a send that went straight has no parameters any more', async () => {
    const foreign = await retry(source, { username: 'supervisor1002' });
    expect([foreign.status, foreign.body.code]).toEqual([404, 'dispatch_not_found']);
    // Beside a sender of its number it might have been stored.
    const quiet = '5491100000002';
    const straight = accepted(await sendTo([personOf(11)], { did: quiet }));
    const refused = await as('supervisor1001', `POST /v1/template/messages/${quiet}/${straight}/retry`, {});
    expect([refused.status, refused.body.code]).toEqual([409, 'not_retryable']);
  });
});
