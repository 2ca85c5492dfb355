import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ApiReply, api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { runningTarget } from '../support/running-target.ts';

/*
 * The platform pauses the template, or holds the account or the number, in the middle of a dispatch (D46); or the
 * client cancels it (D53). All is seen over HTTP.
 */

interface Sender {
  readonly did: string;
  readonly phoneNumberId: string;
  readonly username: Parameters<typeof tokenOf>[0];
}

const andes: Sender = { did: '5491100000001', phoneNumberId: '300000000000001', username: 'supervisor1001' };
/** Another client has this number of the same WABA. */
const neighbor: Sender = { did: '5491100000002', phoneNumberId: '300000000000002', username: 'supervisor1002' };
/** The number is alone on its WABA, so a hold concerns no other test. */
const boreal: Sender = { did: '5511900000003', phoneNumberId: '300000000000003', username: 'supervisor1002' };
const target = runningTarget();
const wabaId = '200000000000001';
const wabaOfBoreal = '200000000000002';
const total = 300;
/** At 80 a second, an edit finds most of so many waiting, also on a busy machine. */
const reviewed = 1_500;
/** At 1,000 a second, a client can cancel before so many have left. */
const cancelled = 3_000;
/** At 80 a second, workers hold at most two chunks when the template is paused. */
const mostRefused = 60;

const templates = ['held_by_platform', 'held_by_client', 'held_by_review', 'held_with_account'].map((name) => ({
  ...{ name, language: 'en_US', category: 'UTILITY', status: 'APPROVED' },
  components: [{ type: 'BODY', text: 'Your order is ready.' }],
}));
let ids: string[] = [];

beforeAll(async () => {
  const ofWaba = async (waba_id: string, some: typeof templates): Promise<string[]> =>
    (await platform('POST /_control/templates', { waba_id, templates: some })).body.ids;
  ids = [...(await ofWaba(wabaId, templates.slice(0, 3))), ...(await ofWaba(wabaOfBoreal, templates.slice(3)))];
  await mayLeaveAt('STANDARD', boreal);
}, 120_000);

afterAll(async () => {
  for (const sender of [andes, neighbor, boreal]) await mayLeaveAt('HIGH', sender);
  for (const id of ids) await platform(`DELETE /_control/templates/${id}`);
  for (const { name } of templates) await eraseTemplate(target, name);
});

/** Sets the rate limit of the number to 80 a second, or to 1,000. */
async function mayLeaveAt(level: 'STANDARD' | 'HIGH', { phoneNumberId, username } = andes): Promise<void> {
  await platform(`POST /_control/numbers/${phoneNumberId}`, { throughput: { level } });
  await synchronize(username);
}

async function send(
  name: string,
  prefix: string,
  count: number,
  { did, username } = andes,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const recipients = Array.from({ length: count }, (_, at) => ({ to: `${prefix}${String(at).padStart(4, '0')}` }));
  const template = { name, language: 'en_US' };
  const body = { did, type: 'template', channel: 'MESSAGING', template, recipients };
  const reply = await api(`POST /v1/template/messages/${did}`, { token: await tokenOf(username), body, headers });
  if (reply.status !== 200) throw new Error(`the send was refused: ${reply.text}`);
  return reply.headers.get('dispatch-id') ?? '';
}

async function ask(
  method: 'GET' | 'DELETE',
  dispatchId: string,
  query = '',
  { did, username } = andes,
): Promise<ApiReply> {
  const token = await tokenOf(username);
  return await api(`${method} /v1/template/messages/${did}/${dispatchId}${query}`, { token });
}

async function accepted(template: string): Promise<number> {
  return (await platform(`GET /_control/messages?template=${template}&limit=1`)).body.total;
}

async function refusedCalls(template: string): Promise<number> {
  const { body } = await platform('GET /_control/requests?method=POST&path=/messages&limit=1000');
  return body.data.filter(
    ({ body: sent, status }: { body: { template?: { name?: string } }; status: number }) =>
      [400, 404].includes(status) && sent.template?.name === template,
  ).length;
}

const half = async (template: string) => ((await accepted(template)) >= 40 ? true : undefined);

test('a template that is paused: few refused calls, the rest waits, and all is sent when it is back', async () => {
  await mayLeaveAt('STANDARD');
  const dispatchId = await send('held_by_platform', '54931000', total);
  await eventually('some of it has left', () => half('held_by_platform'));
  await platform(`POST /_control/templates/${ids[0]}/pause`);
  const parked = await eventually('its report says that it waits', async () => {
    const { body } = await ask('GET', dispatchId, '?state=pending&limit=1000');
    return body.data.some(({ code }: { code?: string }) => code === 'template_paused') ? body : undefined;
  });
  expect(parked.counts.failed).toBe(0);
  const before = await accepted('held_by_platform');
  expect(before).toBeLessThan(total);
  expect(await refusedCalls('held_by_platform')).toBeLessThanOrEqual(mostRefused);
  await platform(`POST /_control/templates/${ids[0]}`, { status: 'APPROVED' });
  const sent = await eventually(
    'all of it has left',
    async () => {
      const { body } = await ask('GET', dispatchId);
      return body.complete ? body : undefined;
    },
    240_000,
  );
  const { sent: left, delivered, read } = sent.counts;
  expect(left + delivered + read).toBe(total);
  expect(await accepted('held_by_platform')).toBe(total);
}, 400_000);

test('a template that a client edits: dispatches of every client of the WABA wait, its own are counted, and all is sent after the review', async () => {
  await mayLeaveAt('STANDARD');
  const name = 'held_by_review';
  await mayLeaveAt('STANDARD', neighbor);
  const scheduled = await send(name, '54935000', 60, andes, { 'Send-At': new Date(Date.now() + 20_000).toISOString() });
  const dispatchId = await send(name, '54936000', reviewed);
  const [small, foreign] = [await send(name, '54937000', 2), await send(name, '54938000', reviewed, neighbor)];
  const token = await tokenOf(andes.username);
  const { body: list } = await api(`GET /v1/templates?campaign_name=Unassigned&name=${name}`, { token });
  const components = [{ type: 'BODY', text: 'Your order is ready for you.' }];
  const edit = `PUT /v1/templates/${andes.did}/${list.data[0].id}` as const;
  const edited = await api(edit, { token, body: { components } });
  expect([edited.status, edited.body]).toEqual([200, { success: true, changed: true }]);
  expect(edited.headers.get('template-warning')).toMatch(
    /^[23] dispatches with \d+ pending wait until the template is approved again \(template_in_review\)$/,
  );
  const codes = async (id: string, sender: Sender) => {
    const { body } = await ask('GET', id, '?state=pending&limit=1000', sender);
    return new Set(body.data.map(({ code }: { code?: string }) => code));
  };
  for (const [id, sender] of [
    [dispatchId, andes],
    [foreign, neighbor],
    [scheduled, andes],
  ] as const) {
    await eventually('its report says that it waits', async () =>
      (await codes(id, sender)).has('template_in_review') ? true : undefined,
    );
  }
  // Only what workers had claimed when the edit came was refused, and that waits too.
  expect(await refusedCalls(name)).toBeLessThanOrEqual(2 * mostRefused);
  await platform(`POST /_control/templates/${ids[2]}`, { status: 'APPROVED' });
  for (const [id, sender] of [
    [dispatchId, andes],
    [foreign, neighbor],
    [scheduled, andes],
    [small, andes],
  ] as const) {
    const { counts } = await eventually(
      'all of it has left',
      async () => {
        const { body } = await ask('GET', id, '', sender);
        return body.complete ? body : undefined;
      },
      240_000,
    );
    expect([counts.failed, counts.expired, counts.unknown]).toEqual([0, 0, 0]);
  }
  expect(await accepted(name)).toBe(2 * reviewed + 60 + 2);
}, 400_000);

test.each([
  ['a WABA that cannot pay', `wabas/${wabaOfBoreal}`, 131_042, '54933000'],
  ['a number that is not registered', `numbers/${boreal.phoneNumberId}`, 133_010, '54934000'],
])(
  '%s: a few refused calls, the rest waits, and all is sent once it is mended',
  async (_, held, code, prefix) => {
    const name = 'held_with_account';
    const [before, refusedBefore] = [await accepted(name), await refusedCalls(name)];
    const mend = () => platform(`DELETE /_control/${held}/holds`);
    onTestFinished(async () => void (await mend()));
    await platform(`POST /_control/${held}/holds`, { code });
    const dispatchId = await send(name, prefix, total, boreal);
    const waits = await eventually('its report says why all of it waits', async () => {
      const { body } = await ask('GET', dispatchId, '?state=pending&limit=1000', boreal);
      return body.data.every((row: { code?: string }) => row.code === String(code)) ? body : undefined;
    });
    expect(waits.counts.pending).toBe(total);
    await mend();
    // One message probes the platform, and all go on when it is accepted.
    await eventually(
      'all of it has left',
      async () => ((await ask('GET', dispatchId, '', boreal)).body.complete ? true : undefined),
      240_000,
    );
    expect((await accepted(name)) - before).toBe(total);
    expect((await refusedCalls(name)) - refusedBefore).toBeLessThanOrEqual(mostRefused);
  },
  400_000,
);

test('a dispatch that is cancelled: what has left has left, the rest is never sent', async () => {
  await mayLeaveAt('HIGH');
  const dispatchId = await send('held_by_client', '54932000', cancelled);
  await eventually('some of it has left', () => half('held_by_client'));
  const { status, body } = await ask('DELETE', dispatchId);
  expect([status, body.dispatch_id, body.total]).toEqual([200, dispatchId, cancelled]);
  expect(body.counts.failed).toBeGreaterThan(0);
  const ended = await eventually('what was under way has ended', async () => {
    const report = await ask('GET', dispatchId);
    return report.body.complete ? report.body : undefined;
  });
  // A message that a worker had claimed is still sent. A message that the answer called failed is not.
  expect(ended.counts.failed).toBeGreaterThanOrEqual(body.counts.failed);
  expect(ended.counts.failed + (await accepted('held_by_client'))).toBe(cancelled);
  // An ended dispatch never becomes pending again, whatever workers still find in the queue.
  for (let time = 0; time < 3; time += 1) {
    const { status, body: again } = await ask('DELETE', dispatchId);
    expect([status, again.complete, again.counts]).toEqual([200, true, ended.counts]);
  }
}, 200_000);
