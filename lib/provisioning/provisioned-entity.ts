import * as v from 'valibot';
import {
  campaignSortPrefix,
  channelSortPrefix,
  clientPartitionPrefix,
  clientSortPrefix,
  clientsPartition,
  DidItemSchema,
  didSortKey,
  profileSortKey,
  userSortPrefix,
  wabaSortPrefix,
} from '../access/directory-items.ts';
import { credentialPrefix } from '../access/sign-in/credential-items.ts';
import { stopWordListKey } from '../opt-outs/stop-word-list.ts';
import type { Attributes, ItemPlace } from './provisioned-items.ts';

export type Entity =
  | { readonly kind: 'client'; readonly name: string }
  | { readonly kind: 'WABA membership'; readonly name: string; readonly clientId: number }
  | { readonly kind: 'campaign'; readonly name: string }
  | { readonly kind: 'channel'; readonly name: string }
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'words'; readonly name: 'of opt-outs' };

/**
 * Returns the entity of an item. Returns undefined for items outside provisioning, and for the channel listing, which
 * repeats the entities.
 */
export function entityOf({
  table,
  key,
  attributes,
}: ItemPlace & { readonly attributes: Attributes }): Entity | undefined {
  const { pk, sk = '' } = key;
  if (table === 'channels') return undefined;
  if (table === 'credentials') return named('user', pk, credentialPrefix);
  if (pk === clientsPartition) return named('client', String(Number(sk.slice(clientSortPrefix.length))), '');
  if (sk === didSortKey) {
    const item = v.safeParse(DidItemSchema, attributes);
    return { kind: 'channel', name: item.success ? String(item.output.channel.channelId) : `of ${pk}` };
  }
  if (pk === stopWordListKey.pk && sk === stopWordListKey.sk) return { kind: 'words', name: 'of opt-outs' };
  if (!pk.startsWith(clientPartitionPrefix)) return undefined;
  if (sk === profileSortKey) return named('client', pk, clientPartitionPrefix);
  if (sk.startsWith(wabaSortPrefix)) {
    const clientId = Number(pk.slice(clientPartitionPrefix.length));
    return { kind: 'WABA membership', name: `${sk.slice(wabaSortPrefix.length)} of client ${clientId}`, clientId };
  }
  return (
    named('campaign', sk, campaignSortPrefix) ??
    named('channel', sk, channelSortPrefix) ??
    named('user', sk, userSortPrefix)
  );
}

function named(kind: 'client' | 'campaign' | 'channel' | 'user', text: string, prefix: string): Entity | undefined {
  return text.startsWith(prefix) ? { kind, name: text.slice(prefix.length) } : undefined;
}
