import type { TemplateDetail } from './model.ts';
import { asUser, forClient, ServiceRefusal } from './session.ts';

/* Templates as the service has them for a client: whether it may use them, and where (D12 to D17). */

export interface Pair {
  readonly channel_id: number;
  readonly campaign_id: number;
}

export interface ClientTemplate {
  readonly id: string;
  readonly waba_id: string;
  readonly active: boolean;
  readonly platform_template: {
    readonly id: string;
    readonly name: string;
    readonly language: string;
    readonly status: string;
    readonly category: string;
    readonly components: TemplateDetail['components'];
    readonly quality_score?: { readonly score?: string };
  };
  readonly channel_campaigns: readonly {
    readonly campaign_id: number;
    readonly campaign_name: string;
    readonly channels: readonly { readonly channel_id: number; readonly did: string; readonly name?: string }[];
  }[];
}

interface Page {
  readonly data: readonly ClientTemplate[];
  readonly total: number;
}

const pageSize = 100;

/** Returns the id of the platform: the service's own changes when an older assignment goes. */
export function keyOf({ platform_template: { id } }: ClientTemplate): string {
  return id;
}

/** Reads assigned templates and those without an assignment; a listing has both only for an operator (D15). */
export async function readTemplates(pages: number) {
  const [assigned, unassigned] = await Promise.all([read(pages, ''), read(pages, '&campaign_name=Unassigned')]);
  const all = new Map([...unassigned.rows, ...assigned.rows].map((row) => [keyOf(row), row]));
  const textOf = ({ platform_template: { name, language } }: ClientTemplate) => `${name} ${language}`;
  const rows = [...all.values()].sort((one, other) => textOf(one).localeCompare(textOf(other)));
  return { rows, hasMore: assigned.hasMore || unassigned.hasMore };
}

async function read(pages: number, query: string) {
  const rows: ClientTemplate[] = [];
  for (let page = 1; page <= pages; page += 1) {
    const path = forClient(`/v1/templates?page=${page}&size=${pageSize}${query}`);
    const { data, total } = await asUser<Page>('GET', path);
    rows.push(...data);
    if (data.length === 0 || rows.length >= total) return { rows, hasMore: false };
  }
  return { rows, hasMore: true };
}

/** Has the service read the templates from the platform, which goes on after the answer. */
export function synchronize(): Promise<unknown> {
  return asUser('POST', forClient('/v1/templates/sync-from-platform'), { body: '{}' });
}

interface Switched {
  readonly results: readonly { readonly success: boolean; readonly reason?: string }[];
}

/** Switches one template for the client. Throws a `ServiceRefusal` with the reason of the item (D17). */
export async function switchTemplate({ id, active }: ClientTemplate): Promise<void> {
  const body = JSON.stringify({ action: active ? 'disable' : 'enable', templates: [id] });
  const answer = await asUser<Switched>('PATCH', forClient('/v1/templates/status'), { body });
  const [{ success, reason: code = '' } = { success: false }] = answer.results;
  if (!success)
    throw new ServiceRefusal(200, { code, message: `It was not switched ${active ? 'off' : 'on'}: ${code}.` });
}

const pathOf = ({ id }: ClientTemplate) => `/v1/templates/${encodeURIComponent(id)}/channel-campaigns`;

export function assign(template: ClientTemplate, pair: Pair): Promise<unknown> {
  return asUser('POST', forClient(pathOf(template)), { body: JSON.stringify({ channel_campaigns: [pair] }) });
}

export function takeAway(
  template: ClientTemplate,
  { channel_id: channel, campaign_id: campaign }: Pair,
): Promise<unknown> {
  return asUser('DELETE', forClient(`${pathOf(template)}?channel_id=${channel}&campaign_id=${campaign}`));
}

export interface Offered {
  readonly client: string;
  readonly campaigns: readonly (readonly [string, string])[];
  readonly channels: readonly { readonly channel_id: number; readonly did: string; readonly name: string | null }[];
}

/** Reads the campaigns of the user, and the channels of the WABA: others take no assignment of its templates. */
export async function readOffered(wabaId: string): Promise<Offered> {
  const [me, channels] = await Promise.all([
    asUser<{
      readonly client: { readonly name: string };
      readonly campaigns: readonly { readonly id: number; readonly name: string }[];
    }>('GET', forClient('/v1/me')),
    asUser<{ readonly data: Offered['channels'] }>(
      'GET',
      forClient(`/v1/client-messaging-channels?fields=channel_id,did,name&size=100&waba_id=${wabaId}`),
    ),
  ]);
  return {
    client: me.client.name,
    campaigns: me.campaigns.map(({ id, name }) => [String(id), name] as const),
    channels: channels.data,
  };
}
