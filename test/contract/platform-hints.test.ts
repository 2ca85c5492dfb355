import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { syncLockStore } from '../../lib/templates/sync/sync-lock-store.ts';
import { api, as, eventually, platform, synchronize } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { demoApp, signedWebhook, webhookOf } from '../support/platform-webhook.ts';
import { runningTarget } from '../support/running-target.ts';
import { dispatchTo, reportOf, sendTo } from '../support/sends.ts';

/* The platform's webhook reports a change, and listings (D42) and a rehearsal (D51) show it. */

const [wabaId] = demoApp.wabas;
const body = { type: 'BODY', text: 'The parcel is on its way.' };

const listed = async (route: string) => (await as('supervisor1002', `GET ${route}`)).body;
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

const rehearsed = (did: string, count: number) =>
  sendTo(
    Array.from({ length: count }, (_, at) => String(5_493_200_000_000 + at)),
    { user: 'supervisor1002', did, headers: { 'Dry-Run': 'true' } },
  );

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
  const by = { user: 'supervisor1002', did: '5491100000002' } as const;
  const [stopped, open] = ['5493209990001', '5493209990002'] as const;
  const name = 'worded';
  const template = { name, language: 'en_US', category: 'UTILITY', status: 'APPROVED', components: [body] };
  const { body: made } = await platform('POST /_control/templates', { waba_id: wabaId, templates: [template] });
  const templateId = made.ids[0];
  onTestFinished(async () => {
    await platform(`DELETE /_control/templates/${templateId}`);
    await as(by.user, `DELETE /v1/opt-outs/${stopped}`);
    await eraseTemplate(runningTarget(), name);
  });
  await as(by.user, `PUT /v1/opt-outs/${stopped}`);
  const sending = { ...by, of: { template: { name, language: 'en_US' } } };
  const codesOf = async (...people: string[]): Promise<(string | undefined)[]> => {
    const { data } = await reportOf(await dispatchTo(people, sending), undefined, by);
    return data.map(({ code }: { code?: string }) => code);
  };
  expect(await codesOf(stopped)).toEqual([undefined]);

  const value = {
    message_template_id: Number(templateId),
    message_template_name: name,
    message_template_language: 'en_US',
  };
  await platform(`POST /_control/templates/${templateId}`, { category: 'MARKETING' });
  await tell('message_template_category_update', { ...value, previous_category: 'UTILITY', new_category: 'MARKETING' });
  const marketing = await eventually('a send of MARKETING', async () => {
    const codes = await codesOf(stopped, open);
    return codes.includes('opted_out') ? codes : undefined;
  });
  expect(marketing.toSorted()).toEqual(['opted_out', undefined]);

  await platform(`POST /_control/templates/${templateId}`, { status: 'PAUSED' });
  await tell('message_template_status_update', { ...value, event: 'PAUSED' });
  await eventually('a send is refused', async () =>
    (await sendTo([open], sending)).status === 422 ? true : undefined,
  );
}, 120_000);
