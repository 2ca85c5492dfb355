import { isDeepStrictEqual } from 'node:util';
import { goneAttributes, isListedChannelKey } from '../channels/channel-item.ts';
import type { PlatformCredentials } from '../platform/credential-groups.ts';
import type { PlatformApps } from '../platform/webhook/apps.ts';
import { narrowed } from './narrowed-access.ts';
import { type PlanLine, planLines } from './plan-lines.ts';
import { entityOf } from './provisioned-entity.ts';
import type { Attributes, ItemPlace, ProvisionedItem } from './provisioned-items.ts';

/** Any program may have written its attributes. */
export interface StoredItem extends ItemPlace {
  readonly attributes: Attributes;
}

/** Without `set`, a write deletes the item; attributes outside `set` stay. */
export interface ItemChange extends ItemPlace {
  readonly set?: Attributes;
  readonly whenAbsent?: Attributes;
}

export interface ProvisionedState {
  readonly items: readonly StoredItem[];
  readonly platformCredentials: PlatformCredentials;
  readonly platformApps: PlatformApps;
}

export interface DesiredState {
  readonly items: readonly ProvisionedItem[];
  readonly platformCredentials: PlatformCredentials;
  readonly platformApps: PlatformApps;
}

/**
 * The order is `revocations`, `platformCredentials` and `platformApps` (whole, if any differs), `grants`. A run that
 * stops anywhere has granted no more than either state (D36).
 */
export interface ProvisioningPlan {
  readonly lines: readonly PlanLine[];
  readonly revocations: readonly ItemChange[];
  readonly platformCredentials: PlatformCredentials | undefined;
  readonly platformApps: PlatformApps | undefined;
  readonly grants: readonly ItemChange[];
  /** These clients have a new WABA, and none of its templates before their next synchronization. */
  readonly clientsToSynchronize: readonly number[];
}

/** Compares the stored with the wanted state. Items outside provisioning stay. */
export function provisioningPlan(stored: ProvisionedState, wanted: DesiredState): ProvisioningPlan {
  const storedItems = new Map(stored.items.map((item) => [placeText(item), item]));
  const places = new Set(wanted.items.map(placeText));
  const gone = stored.items.filter((item) => isToGo(item) && !places.has(placeText(item)));
  const differing = wanted.items.filter((item) => differs(storedItems.get(placeText(item)), item));
  const revocations = [
    ...gone.map(going),
    ...differing.flatMap((item) => narrowing(storedItems.get(placeText(item)), item)),
  ];
  const { platformCredentials, platformApps } = wanted;
  return {
    lines: planLines({ stored, wanted, gone, differing }),
    // A credential is found through its user, so it goes first and comes last, and none is left behind.
    revocations: [...revocations.filter(isCredential), ...revocations.filter((change) => !isCredential(change))],
    platformCredentials: isDeepStrictEqual(stored.platformCredentials, platformCredentials)
      ? undefined
      : platformCredentials,
    platformApps: isDeepStrictEqual(stored.platformApps, platformApps) ? undefined : platformApps,
    grants: [...differing.filter((item) => !isCredential(item)), ...differing.filter(isCredential)].map(granting),
    clientsToSynchronize: clientsWithNewWaba(differing.filter((item) => !storedItems.has(placeText(item)))),
  };
}

function differs(stored: StoredItem | undefined, { attributes, whenAbsent = {} }: ProvisionedItem): boolean {
  if (stored === undefined) return true;
  return (
    Object.entries(attributes).some(([name, value]) => !isDeepStrictEqual(stored.attributes[name], value)) ||
    Object.keys(whenAbsent).some((name) => stored.attributes[name] === undefined)
  );
}

/** Items outside provisioning stay, and so do channels that are already listed as deleted. */
function isToGo(item: StoredItem): boolean {
  if (item.table === 'channels') return !isDeepStrictEqual({ ...item.attributes, ...goneAttributes }, item.attributes);
  return entityOf(item) !== undefined;
}

/** A channel stays listed, as deleted (D35); all else is erased. */
function going(item: StoredItem): ItemChange {
  return item.table === 'channels' && isListedChannelKey(item.key)
    ? { ...placeOf(item), set: goneAttributes }
    : placeOf(item);
}

function narrowing(stored: StoredItem | undefined, wanted: ProvisionedItem): ItemChange[] {
  const left = stored === undefined ? 'as it is' : narrowed(stored, wanted.attributes);
  if (left === 'as it is') return [];
  return [left === 'nothing' ? placeOf(wanted) : { ...placeOf(wanted), set: left }];
}

function granting({ attributes, whenAbsent, ...place }: ProvisionedItem): ItemChange {
  return { ...place, set: attributes, whenAbsent };
}

function clientsWithNewWaba(added: readonly ProvisionedItem[]): number[] {
  const clientIds = added.flatMap((item) => {
    const entity = entityOf(item);
    return entity?.kind === 'WABA membership' ? [entity.clientId] : [];
  });
  return [...new Set(clientIds)].sort((a, b) => a - b);
}

function placeOf({ table, key }: ItemPlace): ItemPlace {
  return { table, key };
}

/** Returns an item's place as text; no key has a blank. */
export function placeText({ table, key }: ItemPlace): string {
  return `${table} ${key.pk} ${key.sk ?? ''}`;
}

function isCredential({ table }: ItemPlace): boolean {
  return table === 'credentials';
}
