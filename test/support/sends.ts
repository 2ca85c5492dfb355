import { type ApiReply, type ApiRequest, api, as, type DemoUser, eventually, platform, tokenOf } from './api.ts';

/** Client 1001 has the templates of the demo on this number. */
export const orderDid = '5491100000001';

export const orderParams = { body: ['Ana', 'A-1'], buttons: ['A-1'] };

/** Calls a route as the supervisor of client 1001. */
export async function asSupervisor(route: string, request: ApiRequest = {}): Promise<ApiReply> {
  return api(route, { token: await tokenOf('supervisor1001'), ...request });
}

/** A template, and what each recipient of it gets. */
export interface Message {
  readonly template: { readonly name: string; readonly language: string };
  readonly params?: object | ((to: string) => object);
  readonly component?: object;
}

/** These are templates of the demo: UTILITY, MARKETING, AUTHENTICATION, and MARKETING again. */
export const order: Message = { template: { name: 'order_update', language: 'en_US' }, params: orderParams };
export const offer: Message = {
  template: { name: 'welcome_offer', language: 'es' },
  component: { header: { type: 'image_url', value: 'https://cdn.example.com/a.png', filename: 'a.png' } },
  params: { body: ['Ana'] },
};
export const code: Message = { template: { name: 'login_code', language: 'en_US' }, params: { body: ['482913'] } };
export const coupon: Message = {
  template: { name: 'coupon_drop', language: 'en_US' },
  params: { buttons: ['SAVE25'] },
};

/** By default supervisor1001 sends on the client's first number. */
export interface By {
  readonly user?: DemoUser;
  readonly did?: string;
}

export interface Sending extends By {
  readonly of?: Message;
  readonly headers?: Readonly<Record<string, string>>;
  /** More fields of the body. */
  readonly more?: object;
}

/** Returns the body of a send. */
export function bodyTo(recipients: readonly string[], { of = order, did = orderDid, more }: Sending = {}): object {
  const { params, ...what } = of;
  const list = recipients.map((to) => ({ to, params: typeof params === 'function' ? params(to) : params }));
  return { did, type: 'template', channel: 'MESSAGING', ...what, recipients: list, ...more };
}

/** Sends a template, by default `order_update`, to these recipients. */
export async function sendTo(recipients: readonly string[], sending: Sending = {}): Promise<ApiReply> {
  const { user = 'supervisor1001', did = orderDid, headers } = sending;
  return await as(user, `POST /v1/template/messages/${did}`, bodyTo(recipients, sending), headers);
}

/** Sends as `sendTo`, and returns the dispatch id. Throws when the send is refused. */
export async function dispatchTo(recipients: readonly string[], sending: Sending = {}): Promise<string> {
  const reply = await sendTo(recipients, sending);
  if (reply.status !== 200) throw new Error(`the send was refused: ${reply.text}`);
  return reply.headers.get('dispatch-id') ?? '';
}

export type ReportRow = Readonly<Record<string, unknown>>;

/** Returns the report of a dispatch, or another answer of the route. */
export async function askReport(
  dispatchId: string,
  { user = 'supervisor1001', did = orderDid, query = '' }: By & { readonly query?: string } = {},
): Promise<ApiReply> {
  return await as(user, `GET /v1/template/messages/${did}/${dispatchId}${query}`);
}

/** Returns the report of a dispatch once the condition holds for it, by default once it is complete. */
export async function reportOf(
  dispatchId: string,
  isThere: (report: ApiReply['body']) => boolean = ({ complete }) => complete,
  { withinMs, ...asked }: By & { readonly query?: string; readonly withinMs?: number } = {},
): Promise<ApiReply['body']> {
  const probe = async () => {
    const { body } = await askReport(dispatchId, asked);
    return isThere(body) ? body : undefined;
  };
  return await eventually(`the report of ${dispatchId} says so`, probe, withinMs);
}

/** Returns how many messages the platform took that this query finds, such as `to=549...`. */
export async function takenOf(query: string): Promise<number> {
  return (await platform(`GET /_control/messages?limit=1&${query}`)).body.total;
}
