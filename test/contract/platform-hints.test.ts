import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { syncLockStore } from '../../lib/templates/sync/sync-lock-store.ts';
import { api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { demoApp, signedWebhook, webhookOf } from '../support/platform-webhook.ts';
import { runningTarget } from '../support/running-target.ts';

/* The platform's webhook reports a change, and listings (D42) and a rehearsal (D51) show it. */

const [wabaId] = demoApp.wabas;
const body = { type: 'BODY', text: 'The parcel is on its way.' };

const listed = async (route: string) => (await api(`GET ${route}`, { token: await tokenOf('supervisor1002') })).body;
const statusOf = async (name: string) =>
  (await listed(`/v1/templates?campaign_name=Unassigned&name=${name}`)).data[0]?.platform_template.status;

async function tell(field: string, value: unknown): Promise<void> {
  const { entry, ...envelope } = webhookOf(wabaId, { field, value });
  const now = entry.map((each) => ({ ...each, time: Math.floor(Date.now() / 1_000) }));
  const reply = await api('POST /platform/webhook', signedWebhook({ ...envelope, entry: now }));
  expect(reply.status).toBe(200);
}

const { documentClient, tableName } = runningTarget();
const locks = syncLockStore(documentClient, tableName('templates'));
let held: Awaited<ReturnType<typeof locks.acquire>>;
const limit = 'whatsapp_business_manager_messaging_limit';
let id: string;
let numberId: string;

async function rehearsed(did: string, count: number) {
  const params = { body: ['Ana', 'A-1'], buttons: ['A-1'] };
  const recipients = Array.from({ length: count }, (_, at) => ({ to: String(5_493_200_000_000 + at), params }));
  const template = { name: 'order_update', language: 'en_US' };
  const body = { did, type: 'template', channel: 'MESSAGING', template, recipients };
  const headers = { 'Dry-Run': 'true' };
  return await api(`POST /v1/template/messages/${did}`, { token: await tokenOf('supervisor1002'), headers, body });
}
beforeAll(async () => {
  await synchronize('supervisor1002');
  // The lease keeps synchronizations away from here on.
  held = await eventually('the lock is free', () =>
    locks.acquire({ name: 'sync', owner: 'hints test', contender: 'test', nowMs: Date.now() }),
  );
  const template = {
    name: 'hinted_at',
    language: 'en_US',
    category: 'UTILITY',
    status: 'APPROVED',
    components: [body],
  };
  const { body: made } = await platform('POST /_control/templates', { waba_id: wabaId, templates: [template] });
  id = String(made.ids[0]);
});

// Other files count templates, so these must be removed.
afterAll(async () => {
  if (held !== undefined) await locks.release(held, Date.now());
  await platform(`DELETE /_control/templates/${id}`);
  await eraseTemplate(runningTarget(), 'hinted_at');
  await platform(`POST /_control/numbers/${numberId}`, { quality_rating: 'GREEN', [limit]: 'TIER_100K' });
  await synchronize('supervisor1002');
});

/* This is one test, because hints of a WABA are gathered for ten seconds after the last ones. */
test("a template that appears upstream, one that is paused, a number's quality and its portfolio's limit are there without a synchronization", async () => {
  expect(await statusOf('hinted_at')).toBeUndefined();
  const hint = { message_template_id: Number(id), message_template_name: 'hinted_at', event: 'APPROVED' };
  await tell('message_template_status_update', hint);
  await eventually('the template is listed', () => statusOf('hinted_at'));

  const [number] = (await listed(`/v1/client-messaging-channels?waba_id=${wabaId}&fields=wa_id,phone_number_id`)).data;
  numberId = number.phone_number_id;
  const told = async (field: string) =>
    (await listed(`/v1/client-messaging-channels?wa_id=${number.wa_id}&fields=${field}`)).data[0][field];
  await platform(`POST /_control/templates/${id}`, { status: 'PAUSED' });
  await platform(`POST /_control/numbers/${numberId}`, { quality_rating: 'YELLOW', [limit]: 'TIER_250' });
  // The content of the webhook is only a hint: the service asks the platform.
  await tell('message_template_status_update', { ...hint, event: 'DISABLED' });
  await tell('business_capability_update', { max_daily_conversations_per_business: 2_000 });
  await eventually('it is paused', async () => ((await statusOf('hinted_at')) === 'PAUSED' ? true : undefined));
  await eventually('it is YELLOW', async () => ((await told('quality_rating')) === 'YELLOW' ? true : undefined));
  expect(await told('current_limit')).toBe('TIER_250');

  const { status, body: beyond } = await rehearsed(number.wa_id, 251);
  expect([status, beyond.estimate.portfolio]).toEqual([200, { people_a_day: 250, so_far: expect.any(Number) }]);
  expect(beyond.warning).toMatch(
    /this portfolio may write to 250 people a day; [\d,]+ so far, as far as is known here$/,
  );
});

test('what the platform makes stricter counts before any reading: MARKETING heeds opt-outs, and a template in review holds (D42)', async () => {
  const token = await tokenOf('supervisor1002');
  const did = '5491100000002';
  const [stopped, open] = ['5493209990001', '5493209990002'];
  const name = 'worded';
  const template = { name, language: 'en_US', category: 'UTILITY', status: 'APPROVED', components: [body] };
  const { body: made } = await platform('POST /_control/templates', { waba_id: wabaId, templates: [template] });
  const templateId = made.ids[0];
  onTestFinished(async () => {
    await platform(`DELETE /_control/templates/${templateId}`);
    await api(`DELETE /v1/opt-outs/${stopped}`, { token });
    await eraseTemplate(runningTarget(), name);
  });
  await api(`PUT /v1/opt-outs/${stopped}`, { token });
  const send = async (...people: string[]) => {
    const recipients = people.map((to) => ({ to }));
    const sent = { did, type: 'template', channel: 'MESSAGING', template: { name, language: 'en_US' }, recipients };
    return await api(`POST /v1/template/messages/${did}`, { token, body: sent });
  };
  const codesOf = async (dispatch: Awaited<ReturnType<typeof send>>) => {
    const report = await api(`GET /v1/template/messages/${did}/${dispatch.headers.get('dispatch-id')}`, { token });
    return report.body.complete ? report.body.data.map(({ code }: { code?: string }) => code) : undefined;
  };
  const utility = await eventually('a send of UTILITY', () => send(stopped));
  expect(await eventually('it has left', () => codesOf(utility))).toEqual([undefined]);

  const value = {
    message_template_id: Number(templateId),
    message_template_name: name,
    message_template_language: 'en_US',
  };
  await platform(`POST /_control/templates/${templateId}`, { category: 'MARKETING' });
  await tell('message_template_category_update', { ...value, previous_category: 'UTILITY', new_category: 'MARKETING' });
  const marketing = await eventually('a send of MARKETING', async () => {
    const sent = await send(stopped, open);
    const codes = await eventually('it has ended', () => codesOf(sent));
    return codes.includes('opted_out') ? codes : undefined;
  });
  expect(marketing.toSorted()).toEqual(['opted_out', undefined]);

  await platform(`POST /_control/templates/${templateId}`, { status: 'PAUSED' });
  await tell('message_template_status_update', { ...value, event: 'PAUSED' });
  await eventually('a send is refused', async () => ((await send(open)).status === 422 ? true : undefined));
}, 120_000);
