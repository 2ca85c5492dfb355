import type { ItemKey } from '../../aws/item-key.ts';
import { nameKey } from './template-key.ts';

/*
 * The templates table: how each of its items is addressed.
 *
 *   a fact             FACT#<template key> / FACT               what the platform has, once for all clients of a WABA
 *   a row              C#<client>#<shard> / <template key>      the same for one client's lists, and its own documents (row.ts)
 *   an archived fact   FACT#<template key>#<platform id> / FACT of a template that was deleted and made again under its name
 *   an archived row    C#<client>#<shard> / <template key>#<platform id>
 *   a held name        NAME#<name key> / NAME                   the platform keeps a deleted name for a while (D18)
 *   a lock             LOCK#<lock name> / LOCK                  one synchronization at a time (D22)
 *   the walk           WALK#sync / WALK                         where the scheduled synchronization stands
 *   hints              HINTS#<WABA id> / HINTS                  what the platform says has changed (D42)
 *
 * Other versions will read them: a test holds the spellings letter for letter.
 */

const factPrefix = 'FACT#';

/** The item of a template's fact; of an archived one under its `archiveKey`. */
export function factKey(templateKey: string): ItemKey {
  return { pk: `${factPrefix}${templateKey}`, sk: 'FACT' };
}

/** The inverse of `factKey`. */
export function templateKeyOfFact(pk: unknown): string {
  return String(pk).slice(factPrefix.length);
}

export function isFact(item: { readonly sk?: unknown }): boolean {
  return item.sk === 'FACT';
}

const rowShards = 4;

/** The partition of a client's row: four for each client, so that 50,000 rows are read in parallel. */
export function rowPartition(clientId: number, templateKey: string): string {
  return partitionOf(clientId, templateKey.charCodeAt(0) % rowShards);
}

export function rowPartitions(clientId: number): string[] {
  return Array.from({ length: rowShards }, (_, shard) => partitionOf(clientId, shard));
}

export function rowKey(clientId: number, templateKey: string): ItemKey {
  return { pk: rowPartition(clientId, templateKey), sk: templateKey };
}

/** What `rowPartition` spells. */
export const rowPartitionPattern = /^C#\d+#\d$/;

/** Whose row it is, by its partition. */
export function clientOfRow(pk: string): number {
  return Number(pk.split('#')[1]);
}

function partitionOf(clientId: number, shard: number): string {
  return `C#${clientId}#${shard}`;
}

/** Stands in place of the template key in an archived row and its fact. */
export function archiveKey(templateKey: string, platformId: string): string {
  return `${templateKey}#${platformId}`;
}

/** The template key of a row, archived or not. */
export function templateKeyOfRow(sk: string): string {
  return sk.split('#')[0] ?? '';
}

/** The item of a name of a WABA, in whatever language; there is one only while, or after, the name was held. */
export function heldNameKey(template: { readonly wabaId: string; readonly name: string }): ItemKey {
  return { pk: `NAME#${nameKey(template)}`, sk: 'NAME' };
}

export function lockKey(lockName: string): ItemKey {
  return { pk: `LOCK#${lockName}`, sk: 'LOCK' };
}

/** The attribute of a fact that holds the fencing number of one lock. */
export function fenceAttribute(lockName: string): string {
  return `syncFence#${lockName}`;
}

export function hintsKey(wabaId: string): ItemKey {
  return { pk: `HINTS#${wabaId}`, sk: 'HINTS' };
}

export const walkKey: ItemKey = { pk: 'WALK#sync', sk: 'WALK' };
