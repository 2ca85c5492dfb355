import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';

/* What the platform tells after its 200, from its signed webhook to the client's report (D38, D39, D40). */

const did = '5491100000001';
const plain = '549240000001';
const answerLost = '15550000200';
const released = '15550000201';
const dropped = '15550132015';
const failing = ['15550131026', '15550131049', '15550131050', '15550131053'];
const recipients = [plain, answerLost, released, dropped, ...failing];

beforeAll(async () => {
  await synchronize('supervisor1001');
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
  // Everything twice, and in the wrong order: nothing of that may show.
  await platform('POST /_control/receipts', { course: { copies: 2, order: 'shuffled' } });
});

afterAll(async () => {
  await platform('DELETE /_control/receipts').catch(() => undefined);
  await tellAt(addressOf('platformUrl'), null);
});

async function send(): Promise<string> {
  const template = { name: 'order_update', language: 'en_US' };
  const params = { body: ['Ana', 'A-1'], buttons: ['A-1'] };
  const reply = await api(`POST /v1/template/messages/${did}`, {
    token: await tokenOf('supervisor1001'),
    body: {
      did,
      type: 'template',
      channel: 'MESSAGING',
      template,
      recipients: recipients.map((to) => ({ to, params })),
    },
  });
  return reply.headers.get('dispatch-id') ?? '';
}

/** Waits until each recipient is in the state, with the code, that is wanted of it; returns the report. */
async function becomes(jobId: string, wanted: Readonly<Record<string, string>>) {
  const token = await tokenOf('supervisor1001');
  let last = '';
  const states = async () => {
    const { body } = await api(`GET /v1/template/messages/${did}/${jobId}`, { token });
    const now = Object.fromEntries(
      body.data.map(({ to, state, code }: Record<string, string>) => [
        to,
        code === undefined ? state : `${state} ${code}`,
      ]),
    );
    last = JSON.stringify(now);
    return Object.entries(wanted).every(([to, state]) => now[to] === state) ? body : undefined;
  };
  return eventually('the report is complete', states).catch((error) => {
    throw new Error(`${error.message}; at last ${last}`);
  });
}

test('failures that come later, a lost answer that is proven, and what is held until it is not', async () => {
  const jobId = await send();
  const failed = Object.fromEntries(failing.map((to) => [to, `failed ${to.slice(-6)}`]));
  const held = 'held held_for_quality_assessment';
  const early = await becomes(jobId, {
    ...failed,
    [plain]: 'read',
    [answerLost]: 'read',
    [released]: held,
    [dropped]: held,
  });
  expect(early).toMatchObject({ complete: true, counts: { read: 2, held: 2, failed: 4, unknown: 0, pending: 0 } });
  await platform('POST /_control/clock', { advance_seconds: 610 });
  const late = await becomes(jobId, { [released]: 'read', [dropped]: 'failed 132015', [plain]: 'read' });
  expect(late).toMatchObject({ total: 8, counts: { read: 3, failed: 5, held: 0, unknown: 0, pending: 0 } });
}, 90_000);
