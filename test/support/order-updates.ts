import { type ApiReply, type ApiRequest, api, tokenOf } from './api.ts';

/** Client 1001 has the demo template `order_update` on this number. */
export const orderDid = '5491100000001';

export const orderParams = { body: ['Ana', 'A-1'], buttons: ['A-1'] };

/** Calls a route as the supervisor of client 1001. */
export async function asSupervisor(route: string, request: ApiRequest = {}): Promise<ApiReply> {
  return api(route, { token: await tokenOf('supervisor1001'), ...request });
}

/** Returns the body of a send of `order_update`, or of another template with the same parameters. */
export function orderBody(
  recipients: readonly string[],
  template = { name: 'order_update', language: 'en_US' },
): Readonly<Record<string, unknown>> {
  const list = recipients.map((to) => ({ to, params: orderParams }));
  return { did: orderDid, type: 'template', channel: 'MESSAGING', template, recipients: list };
}

/** Sends `order_update` as client 1001, and returns the dispatch id. Throws when the send is refused. */
export async function sendOrders(recipients: readonly string[]): Promise<string> {
  const reply = await asSupervisor(`POST /v1/template/messages/${orderDid}`, { body: orderBody(recipients) });
  if (reply.status !== 200) throw new Error(`the send was refused: ${reply.text}`);
  return reply.headers.get('dispatch-id') ?? '';
}
