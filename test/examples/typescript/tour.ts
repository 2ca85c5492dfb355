// The tour goes from the login to the report: `npm start -- URL USERNAME PASSWORD`. It sends messages: use it with the
// local stack and its demo data.
import { randomUUID } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { componentOf, paramsOf } from './parameters.ts';
import {
  answered,
  cancelCampaign,
  loggedIn,
  Refused,
  report,
  retry,
  type Schemas,
  type Service,
  send,
  until,
} from './service.ts';

const order = { name: 'order_update', language: 'en_US' };
const orderParams = { body: ['Ana', 'A-1'], buttons: ['A-1'] };

function png(): Buffer {
  const chunk = (kind: string, data: Buffer) => {
    const content = Buffer.concat([Buffer.from(kind), data]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(content));
    return Buffer.concat([size, content, sum]);
  };
  const header = Buffer.from([0, 0, 0, 64, 0, 0, 0, 64, 8, 2, 0, 0, 0]);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(64 * 3, 0x80)]);
  const rows = deflateSync(Buffer.concat(Array.from({ length: 64 }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

/** Returns the answer of the synchronization; undefined while another one runs. */
async function started(service: Service): Promise<string | undefined> {
  try {
    return (await answered(service.POST('/v1/templates/sync-from-platform', { body: {} }))).status;
  } catch (error) {
    if (error instanceof Refused && error.code === 'sync_in_progress') return undefined;
    throw error;
  }
}

/** Returns the id of the first template with this name in the listing; undefined while there is none. */
async function unassigned(service: Service, name: string): Promise<string | undefined> {
  const query = { name, campaign_name: 'Unassigned' };
  return (await answered(service.GET('/v1/templates', { params: { query } }))).data[0]?.id;
}

async function createAndDelete(service: Service, did: string) {
  const name = `typescript_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const template: Schemas['CreateTemplateRequest'] = {
    name,
    language: 'en_US',
    category: 'MARKETING',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'A picture for you.' },
    ],
  };
  const form = new FormData();
  form.set('template', JSON.stringify(template));
  form.set('file', new Blob([Uint8Array.from(png())], { type: 'image/png' }), 'picture.png');
  const created = await answered(
    service.POST('/v1/templates/{didOrMessageTemplateId}', {
      params: { path: { didOrMessageTemplateId: did } },
      body: { template },
      // The types need the body; the request sends the form.
      bodySerializer: () => form,
    }),
  );
  console.log('created', created.status);
  const messageTemplateId = await until('it is listed', () => unassigned(service, name));
  await answered(
    service.DELETE('/v1/templates/{did}/{messageTemplateId}', { params: { path: { did, messageTemplateId } } }),
  );
  console.log('deleted', name);
}

async function assignAndEnable(service: Service, messageTemplateId: string, channel_id: number) {
  const [campaign] = (await answered(service.GET('/v1/campaigns'))).data;
  if (campaign === undefined) throw new Error('the user has no campaign');
  const params = { path: { messageTemplateId } };
  const path = '/v1/templates/{messageTemplateId}/channel-campaigns';
  await answered(
    service.POST(path, { params, body: { channel_campaigns: [{ channel_id, campaign_id: campaign.id }] } }),
  );
  const templates = [messageTemplateId];
  await answered(service.PATCH('/v1/templates/status', { body: { action: 'disable', templates } }));
  const { summary } = await answered(service.PATCH('/v1/templates/status', { body: { action: 'enable', templates } }));
  console.log('enabled', summary.succeeded);
  // The template is unassigned again, as the next tour expects it.
  await answered(service.DELETE(path, { params }));
}

/** Stops marketing to a person and allows it again. The service refuses this for a person who stopped it themselves. */
async function stopAndStart(service: Service, recipient: string) {
  const params = { path: { recipient } };
  const stopped = await answered(service.PUT('/v1/opt-outs/{recipient}', { params }));
  const { data } = await answered(service.GET('/v1/opt-outs', { params: { query: { limit: 1000 } } }));
  const started = await answered(service.DELETE('/v1/opt-outs/{recipient}', { params }));
  console.log('opt-out', stopped.state, started.state, 'of', data.length > 0 ? 'some' : 'none');
}

/** Schedules a send by day that costs a dollar at most, finds it by its campaign and cancels it. */
async function scheduleAndCancel(service: Service, did: string, campaignId: number) {
  const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString();
  const recipients = [{ to: '5491159999998', params: orderParams }];
  const headers = { 'Send-At': tomorrow, 'Send-Window': '09:00-20:00', 'Max-Cost': '1.00' };
  await send(service, { did, template: order, campaignId, recipients }, headers);
  const query = { campaign_id: campaignId, state: ['scheduled' as const] };
  const { data } = await answered(service.GET('/v1/dispatches', { params: { query } }));
  console.log('scheduled', data.length, 'cancelled', await cancelCampaign(service, campaignId));
}

/**
 * Retries the recipients that a dispatch did not reach. The service stores parameters only for more than ten
 * recipients: hence eleven.
 */
async function retryTheRest(service: Service, did: string) {
  const people = Array.from({ length: 10 }, (_, at) => `54911597${String(at).padStart(5, '0')}`);
  const recipients = [...people, '15550231026'].map((to) => ({ to, params: orderParams }));
  const dispatchId = await send(service, { did, template: order, recipients });
  const rows = await report(service, did, dispatchId);
  const again = await report(service, did, await retry(service, { did, dispatchId }, ['131026']));
  console.log('retried', again.length, 'of', rows.length);
}

async function sendEverything(service: Service, did: string) {
  const query = { campaign_name: 'Unassigned', state: ['APPROVED' as const], size: 100 };
  const { data } = await answered(service.GET('/v1/templates', { params: { query } }));
  for (const [at, { id = '' }] of data.entries()) {
    const path = { didOrMessageTemplateId: id };
    const one = await answered(service.GET('/v1/templates/{didOrMessageTemplateId}', { params: { path } }));
    const { parameters, sendable } = one;
    const { name, language } = one.platform_template;
    if (!sendable.can || parameters === undefined) {
      console.log('not sendable', name, '-', sendable.reason);
      continue;
    }
    const dispatchId = await send(service, {
      did,
      template: { name, language },
      recipients: [{ to: `54911599${String(at).padStart(5, '0')}`, params: paramsOf(parameters.params) }],
      component: componentOf(parameters.component),
    });
    const [row] = await report(service, did, dispatchId);
    console.log('sent', name, row?.state, row?.code ?? '');
  }
}

const [url = 'http://127.0.0.1:3000', username = 'supervisor1001', password = 'demo-supervisor1001'] =
  process.argv.slice(2);
const service = await loggedIn(url, username, password);
const me = await answered(service.GET('/v1/me'));
console.log('logged in', me.user.username, 'of', me.client.name);
const [campaign] = me.campaigns;
if (campaign === undefined) throw new Error('the user has no campaign');
console.log('synchronization', await until('the synchronization starts', () => started(service)));
// With a webhook, the event `sync.completed` reports the end; without one, the listing shows it.
const template = await until('the templates are listed', () => unassigned(service, 'order_update'));

const fields = ['wa_id', 'channel_id'];
const channels = await answered(service.GET('/v1/client-messaging-channels', { params: { query: { fields } } }));
const { wa_id: did, channel_id } = channels.data[0] ?? {};
if (did === undefined || typeof channel_id !== 'number') throw new Error('the client has no channel');
await createAndDelete(service, did);
await assignAndEnable(service, template, channel_id);
await stopAndStart(service, '5491159999999');
await scheduleAndCancel(service, did, campaign.id);
await retryTheRest(service, did);
await sendEverything(service, did);

// The cost is counted a moment after the receipts of the deliveries.
const { total } = await answered(service.GET('/v1/spend', { params: { query: { group: 'template' } } }));
console.log('spent', total.amount, total.currency, 'on', total.messages, 'messages');

try {
  await send(service, { did, template: order, recipients: [{ to: '5491155550001' }] });
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.log('refused', error.code, error.errors[0]?.path);
}
