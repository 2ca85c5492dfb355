import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { as, type DemoUser, eventually, platform, synchronize } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { runningTarget } from '../support/running-target.ts';
import { dispatchTo, reportOf, takenOf } from '../support/sends.ts';

/*
 * The platform pauses the template, or holds the account or the number, in the middle of a dispatch (D46); or the
 * client cancels it (D53). All is seen over HTTP.
 */

interface Sender {
  readonly did: string;
  readonly phoneNumberId: string;
  readonly user: DemoUser;
}

const andes: Sender = { did: '5491100000001', phoneNumberId: '300000000000001', user: 'supervisor1001' };
/** Another client has this number of the same WABA. */
const neighbor: Sender = { did: '5491100000002', phoneNumberId: '300000000000002', user: 'supervisor1002' };
/** The number is alone on its WABA, so a hold concerns no other test. */
const boreal: Sender = { did: '5511900000003', phoneNumberId: '300000000000003', user: 'supervisor1002' };
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
async function mayLeaveAt(level: 'STANDARD' | 'HIGH', { phoneNumberId, user } = andes): Promise<void> {
  await platform(`POST /_control/numbers/${phoneNumberId}`, { throughput: { level } });
  await synchronize(user);
}

const send = (name: string, prefix: string, count: number, sender = andes, headers = {}): Promise<string> =>
  dispatchTo(
    Array.from({ length: count }, (_, at) => `${prefix}${String(at).padStart(4, '0')}`),
    { ...sender, of: { template: { name, language: 'en_US' } }, headers },
  );
/** Returns the report once all of the dispatch has left. */
const leftOf = (dispatchId: string, sender = andes) =>
  reportOf(dispatchId, undefined, { ...sender, withinMs: 240_000 });
/** Returns what waits of the dispatch, once the condition holds for the reasons. */
const waitingOf = (dispatchId: string, areThose: (codes: readonly string[]) => boolean, sender = andes) => {
  const codesOf = ({ data }: { data: { code: string }[] }) => data.map(({ code }) => code);
  return reportOf(dispatchId, (report) => areThose(codesOf(report)), { ...sender, query: '?state=pending&limit=1000' });
};
const cancel = (dispatchId: string) => as(andes.user, `DELETE /v1/template/messages/${andes.did}/${dispatchId}`);
const accepted = (template: string) => takenOf(`template=${template}`);

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
  const parked = await waitingOf(dispatchId, (codes) => codes.includes('template_paused'));
  expect(parked.counts.failed).toBe(0);
  const before = await accepted('held_by_platform');
  expect(before).toBeLessThan(total);
  expect(await refusedCalls('held_by_platform')).toBeLessThanOrEqual(mostRefused);
  await platform(`POST /_control/templates/${ids[0]}`, { status: 'APPROVED' });
  const { sent: left, delivered, read } = (await leftOf(dispatchId)).counts;
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
  const { body: list } = await as(andes.user, `GET /v1/templates?campaign_name=Unassigned&name=${name}`);
  const components = [{ type: 'BODY', text: 'Your order is ready for you.' }];
  const edited = await as(andes.user, `PUT /v1/templates/${andes.did}/${list.data[0].id}`, { components });
  expect([edited.status, edited.body]).toEqual([200, { success: true, changed: true }]);
  expect(edited.headers.get('template-warning')).toMatch(
    /^[23] dispatches with \d+ pending wait until the template is approved again \(template_in_review\)$/,
  );
  const waiting = [
    [dispatchId, andes],
    [foreign, neighbor],
    [scheduled, andes],
  ] as const;
  for (const [id, sender] of waiting) await waitingOf(id, (codes) => codes.includes('template_in_review'), sender);
  // Only what workers had claimed when the edit came was refused, and that waits too.
  expect(await refusedCalls(name)).toBeLessThanOrEqual(2 * mostRefused);
  await platform(`POST /_control/templates/${ids[2]}`, { status: 'APPROVED' });
  for (const [id, sender] of [...waiting, [small, andes] as const]) {
    const { counts } = await leftOf(id, sender);
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
    const waits = await waitingOf(dispatchId, (codes) => codes.every((each) => each === String(code)), boreal);
    expect(waits.counts.pending).toBe(total);
    await mend();
    // One message probes the platform, and all go on when it is accepted.
    await leftOf(dispatchId, boreal);
    expect((await accepted(name)) - before).toBe(total);
    expect((await refusedCalls(name)) - refusedBefore).toBeLessThanOrEqual(mostRefused);
  },
  400_000,
);

test('a dispatch that is cancelled: what has left has left, the rest is never sent', async () => {
  await mayLeaveAt('HIGH');
  const dispatchId = await send('held_by_client', '54932000', cancelled);
  await eventually('some of it has left', () => half('held_by_client'));
  const { status, body } = await cancel(dispatchId);
  expect([status, body.dispatch_id, body.total]).toEqual([200, dispatchId, cancelled]);
  expect(body.counts.failed).toBeGreaterThan(0);
  const ended = await reportOf(dispatchId);
  // A message that a worker had claimed is still sent. A message that the answer called failed is not.
  expect(ended.counts.failed).toBeGreaterThanOrEqual(body.counts.failed);
  expect(ended.counts.failed + (await accepted('held_by_client'))).toBe(cancelled);
  // An ended dispatch never becomes pending again, whatever workers still find in the queue.
  for (let time = 0; time < 3; time += 1) {
    const { status, body: again } = await cancel(dispatchId);
    expect([status, again.complete, again.counts]).toEqual([200, true, ended.counts]);
  }
}, 200_000);
