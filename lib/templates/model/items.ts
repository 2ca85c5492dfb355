import type { ItemKey } from '../../aws/item-key.ts';
import { nameKey } from './template-key.ts';

/* Other versions read these keys, so a test holds the spellings letter for letter. */

const factPrefix = 'FACT#';

/**
 * Keys a fact: what the platform has, once for all clients of a WABA. A deleted and recreated template's old fact
 * stands under its `archiveKey`.
 */
export function factKey(templateKey: string): ItemKey {
  return { pk: `${factPrefix}${templateKey}`, sk: 'FACT' };
}

export function templateKeyOfFact(pk: unknown): string {
  return String(pk).slice(factPrefix.length);
}

export function isFact(item: { readonly sk?: unknown }): boolean {
  return item.sk === 'FACT';
}

const rowShards = 4;

/**
 * Keys a client's row: the same facts for its lists, and its own documents (row.ts). Four partitions for each client
 * let 50,000 rows be read in parallel.
 */
export function rowPartition(clientId: number, templateKey: string): string {
  return partitionOf(clientId, templateKey.charCodeAt(0) % rowShards);
}

export function rowPartitions(clientId: number): string[] {
  return Array.from({ length: rowShards }, (_, shard) => partitionOf(clientId, shard));
}

export function rowKey(clientId: number, templateKey: string): ItemKey {
  return { pk: rowPartition(clientId, templateKey), sk: templateKey };
}

export const rowPartitionPattern = /^C#\d+#\d$/;

export function clientOfRow(pk: string): number {
  return Number(pk.split('#')[1]);
}

function partitionOf(clientId: number, shard: number): string {
  return `C#${clientId}#${shard}`;
}

/** Replaces the template key of a template that was deleted and made again under its name. */
export function archiveKey(templateKey: string, platformId: string): string {
  return `${templateKey}#${platformId}`;
}

/** Returns the template key of a row, archived or not. */
export function templateKeyOfRow(sk: string): string {
  return sk.split('#')[0] ?? '';
}

/** Keys a deleted name, which the platform holds for a while in all languages (D18). The item stays after the hold. */
export function heldNameKey(template: { readonly wabaId: string; readonly name: string }): ItemKey {
  return { pk: `NAME#${nameKey(template)}`, sk: 'NAME' };
}

export function lockKey(lockName: string): ItemKey {
  return { pk: `LOCK#${lockName}`, sk: 'LOCK' };
}

/** Names the attribute of a fact with the fencing number of one lock (one synchronization at a time, D22). */
export function fenceAttribute(lockName: string): string {
  return `syncFence#${lockName}`;
}

/** Keys the changes that the platform has announced for a WABA (D42). */
export function hintsKey(wabaId: string): ItemKey {
  return { pk: `HINTS#${wabaId}`, sk: 'HINTS' };
}

export const walkKey: ItemKey = { pk: 'WALK#sync', sk: 'WALK' };
