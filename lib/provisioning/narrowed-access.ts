import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { DidScope, MonthlyBudget, PlatformStops } from '../access/directory.ts';
import {
  type DidItem,
  DidItemSchema,
  didSortKey,
  UserItemSchema,
  userSortPrefix,
  type WabaItem,
  WabaItemSchema,
  wabaSortPrefix,
} from '../access/directory-items.ts';
import type { Attributes, ItemPlace } from './provisioned-items.ts';

/** An intermediate form of an item allows nothing that its old or its new form forbids. */
export type Narrowed = 'as it is' | 'nothing' | Attributes;

/**
 * Returns the most that both forms of an item allow. Another password, owner or platform credential leaves nothing in
 * common, so the item is deleted until it is granted again.
 */
export function narrowed(
  { table, key, attributes: stored }: ItemPlace & { readonly attributes: Attributes },
  wanted: Attributes,
): Narrowed {
  if (table === 'credentials') return 'nothing';
  const { sk = '' } = key;
  if (sk === didSortKey) return narrowedDid(stored, wanted);
  if (sk.startsWith(wabaSortPrefix)) return narrowedMembership(stored, wanted);
  return sk.startsWith(userSortPrefix) ? narrowedUser(stored, wanted) : 'as it is';
}

function narrowedDid(stored: Attributes, wanted: Attributes): Narrowed {
  const before = v.safeParse(DidItemSchema, stored);
  const after = v.parse(DidItemSchema, wanted);
  if (!before.success || !isDeepStrictEqual(natureOf(before.output), natureOf(after))) return 'nothing';
  const { waba } = before.output;
  const reach = narrowedReach(waba, after.waba);
  const budgets = narrowedBudgets(waba.monthlyBudgets, after.waba.monthlyBudgets);
  if (reach === 'as it is' && isDeepStrictEqual(budgets, waba.monthlyBudgets ?? [])) return reach;
  const narrower = reach === 'as it is' ? waba : { ...waba, ...reach };
  if (narrower.clientIds.length === 0) return 'nothing';
  return { waba: budgets.length === 0 ? narrower : { ...narrower, monthlyBudgets: budgets } };
}

function natureOf({ channel, waba }: DidItem): unknown[] {
  return [channel.channelId, channel.clientId, channel.wabaId, channel.phoneNumberId, waba.wabaId, waba.credential];
}

function narrowedMembership(stored: Attributes, wanted: Attributes): Narrowed {
  const before = v.safeParse(WabaItemSchema, stored);
  const after = v.parse(WabaItemSchema, wanted);
  if (!before.success || before.output.credential !== after.credential) return 'nothing';
  const reach = narrowedReach(before.output, after);
  return reach === 'as it is' ? reach : { ...reach };
}

/** A client with a budget in either form keeps one: the smaller amount, and `stop` if either has it (D58). */
function narrowedBudgets(
  stored: readonly MonthlyBudget[] = [],
  wanted: readonly MonthlyBudget[] = [],
): readonly MonthlyBudget[] {
  const byClient = Map.groupBy([...stored, ...wanted], ({ clientId }) => clientId);
  return [...byClient]
    .map(([clientId, both]) => ({
      clientId,
      amount: Math.min(...both.map(({ amount }) => amount)),
      stop: both.some(({ stop }) => stop),
    }))
    .sort((one, other) => one.clientId - other.clientId);
}

/**
 * Reach is who sends from a WABA, from which numbers, and how widely a person's stop applies; a wider stop is less
 * reach.
 */
interface Reach {
  readonly clientIds: readonly number[];
  readonly dids: DidScope;
  readonly platformStops: PlatformStops;
  readonly utilityStops: readonly number[];
}

function narrowedReach(stored: StoredReach, wanted: StoredReach): Reach | 'as it is' {
  const [before, after] = [reachOf(stored), reachOf(wanted)];
  const reach: Reach = {
    clientIds: shared(before.clientIds, after.clientIds),
    dids: before.dids === 'own' || after.dids === 'own' ? 'own' : 'waba',
    platformStops: before.platformStops === 'waba' || after.platformStops === 'waba' ? 'waba' : 'number',
    utilityStops: [...new Set([...before.utilityStops, ...after.utilityStops])].sort((a, b) => a - b),
  };
  return isDeepStrictEqual(reach, before) ? 'as it is' : reach;
}

type StoredReach = Pick<WabaItem, keyof Reach>;

function reachOf({ clientIds, dids, platformStops = 'number', utilityStops = [] }: StoredReach): Reach {
  return { clientIds, dids, platformStops, utilityStops };
}

function narrowedUser(stored: Attributes, wanted: Attributes): Narrowed {
  const before = v.safeParse(UserItemSchema, stored);
  const after = v.parse(UserItemSchema, wanted);
  if (!before.success) return 'nothing';
  const permissions = shared(before.output.permissions, after.permissions);
  const campaignIds = shared(before.output.campaignIds, after.campaignIds);
  const same =
    permissions.length === before.output.permissions.length && campaignIds.length === before.output.campaignIds.length;
  return same ? 'as it is' : { permissions, campaignIds };
}

function shared<T>(before: readonly T[], after: readonly T[]): T[] {
  const kept = new Set(after);
  return before.filter((value) => kept.has(value));
}
