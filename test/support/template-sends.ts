import { afterAll, expect } from 'vitest';
import { type ApiReply, api, type DemoUser, eventually, platform, tokenOf } from './api.ts';
import { eraseTemplate } from './erase-template.ts';
import { runningTarget } from './running-target.ts';
import { orderDid, orderParams } from './sends.ts';

/** An absent part is that of one `order_update` by supervisor1001 to a new recipient. */
export interface Send {
  readonly template?: unknown;
  readonly recipients?: unknown;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly user?: DemoUser;
  readonly path?: string;
  readonly did?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

let next = 5491150000000 + (Date.now() % 1_000_000) * 10;

/** Returns a number that no other send of the file goes to. */
export const newRecipient = () => String(++next);

/** Returns a text that no other call in the file gets. */
export const unique = (prefix: string) => `${prefix}${++next}`;

export async function send(what: Send = {}): Promise<ApiReply> {
  const { template = { name: 'order_update', language: 'en_US' }, did = orderDid, headers } = what;
  const { recipients = [{ to: newRecipient(), params: orderParams }] } = what;
  return api(`POST /v1/template/messages/${what.path ?? did}`, {
    token: await tokenOf(what.user ?? 'supervisor1001'),
    body: { did, type: 'template', channel: 'MESSAGING', template, recipients, ...what.extra },
    headers,
  });
}

/** Returns the one message that the platform took for a recipient. */
export async function delivered(to: string) {
  const { data } = await eventually(`a message to ${to}`, async () => {
    const { body } = await platform(`GET /_control/messages?to=${to}`);
    return body.total > 0 ? body : undefined;
  });
  expect(data).toHaveLength(1);
  return data[0];
}

/** Returns the one message after a later one has arrived, so that a second copy would have arrived too. */
export async function deliveredOnce(to: string) {
  const later = newRecipient();
  expect(await send({ recipients: [{ to: later, params: orderParams }] })).toMatchObject({ status: 200 });
  await delivered(later);
  return delivered(to);
}

/** Matches a quick reply that names the only message of its dispatch (D55). */
export function quickReply(button: number, dispatchId = '[0-9A-Z]{26}') {
  const payload = expect.stringMatching(`^tm1:${dispatchId}-0:${button}$`);
  return { type: 'button', sub_type: 'quick_reply', index: button, parameters: [{ type: 'payload', payload }] };
}

/** Returns how often the platform was asked for a name since the last reset. */
export async function asked(name: string): Promise<number> {
  const { body } = await platform('GET /_control/requests?method=GET&path=/message_templates&limit=1000000');
  return body.data.filter(({ query }: { query: { name?: string } }) => query.name === name).length;
}

/**
 * Returns a function that puts a template onto the first WABA of the platform without the service, until the file ends.
 */
export function platformTemplatesOfFile() {
  const madeUp: { readonly name: string; readonly id: string }[] = [];
  afterAll(async () => {
    for (const { name, id } of madeUp) {
      await platform(`DELETE /_control/templates/${id}`);
      await eraseTemplate(runningTarget(), name);
    }
  });
  return async (fields: Readonly<Record<string, unknown>>) => {
    const [name, language] = [unique('made_up_'), 'en_US'];
    const template = { name, language, category: 'MARKETING', components: [{ type: 'BODY', text: 'x' }], ...fields };
    const { body } = await platform('POST /_control/templates', { waba_id: '200000000000001', templates: [template] });
    const id = String(body.ids[0]);
    madeUp.push({ name, id });
    return { template: { name, language }, id };
  };
}
