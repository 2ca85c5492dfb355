import * as v from 'valibot';
import { DidItemSchema } from '../access/directory-items.ts';
import type { Attributes, ItemPlace } from './provisioned-items.ts';

/** What an entry of the provisioning file is about; one may have several items. */
export type Entity =
  | { readonly kind: 'client'; readonly name: string }
  | { readonly kind: 'WABA membership'; readonly name: string; readonly clientId: number }
  | { readonly kind: 'campaign'; readonly name: string }
  | { readonly kind: 'channel'; readonly name: string }
  | { readonly kind: 'user'; readonly name: string };

/**
 * The entity an item belongs to; undefined for an item that is none of provisioning's, and for the listing of channels, which
 * repeats what the entities say.
 */
export function entityOf({
  table,
  key,
  attributes,
}: ItemPlace & { readonly attributes: Attributes }): Entity | undefined {
  const { pk, sk = '' } = key;
  if (table === 'channels') return undefined;
  if (table === 'credentials') return named('user', pk, 'USER#');
  if (pk === 'CLIENTS') return named('client', String(Number(sk.slice('CLIENT#'.length))), '');
  if (sk === 'DID') {
    const item = v.safeParse(DidItemSchema, attributes);
    return { kind: 'channel', name: item.success ? String(item.output.channel.channelId) : `of ${pk}` };
  }
  if (!pk.startsWith('CLIENT#')) return undefined;
  if (sk === 'PROFILE') return named('client', pk, 'CLIENT#');
  if (sk.startsWith('WABA#')) {
    const clientId = Number(pk.slice('CLIENT#'.length));
    return { kind: 'WABA membership', name: `${sk.slice('WABA#'.length)} of client ${clientId}`, clientId };
  }
  return named('campaign', sk, 'CAMPAIGN#') ?? named('channel', sk, 'CHANNEL#') ?? named('user', sk, 'USER#');
}

function named(kind: 'client' | 'campaign' | 'channel' | 'user', text: string, prefix: string): Entity | undefined {
  return text.startsWith(prefix) ? { kind, name: text.slice(prefix.length) } : undefined;
}
