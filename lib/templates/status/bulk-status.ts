import * as v from 'valibot';
import type { Caller } from '../../access/caller.ts';
import type { CampaignScope } from '../../access/campaign-scope.ts';
import { wholeNumber } from '../../http/documented.ts';
import { type Fault, Refusal } from '../../http/refusal.ts';
import { type RowLookup, type RowName, rowOfDocument } from '../model/document.ts';
import type { TemplateRow } from '../model/row.ts';
import { type DocumentAddress, documentId, parseDocumentId } from '../model/template-key.ts';
import { isHidden, type ViewBounds, visibleDocuments } from '../model/visible-documents.ts';

export const statusActions = ['enable', 'disable'] as const;
export type StatusAction = (typeof statusActions)[number];

export interface StatusItem {
  readonly id: string;
  readonly action: StatusAction;
}

/** Refuses with one 400 every item without an own or the request's action (contract, Errors). */
export function statusItems(
  asked: readonly (string | { readonly id: string; readonly action?: StatusAction | undefined })[],
  action: StatusAction | undefined,
): StatusItem[] {
  const errors: Fault[] = [];
  const items = asked.flatMap((item, index) => {
    const own = typeof item === 'string' ? { id: item, action } : { id: item.id, action: item.action ?? action };
    if (own.action !== undefined) return { id: own.id, action: own.action };
    errors.push({ path: `templates[${index}]`, message: `templates[${index}] has no action` });
    return [];
  });
  const [first] = errors;
  if (first !== undefined) throw new Refusal('invalid_request', first.message, { errors: errors.slice(0, 100) });
  return items;
}

/** Items fail for these reasons (contract, PATCH /v1/templates/status; conditions in D17). */
const statusReasons = [
  'not_found',
  'forbidden',
  'already_enabled',
  'already_disabled',
  'template_not_approved',
  'channel_unassigned',
  'campaign_unassigned',
  'duplicate_request',
  'conflicting_action',
] as const;
export type StatusReason = (typeof statusReasons)[number];

export const StatusResultSchema = v.object({
  id: v.string(),
  action: v.picklist(statusActions),
  success: v.boolean(),
  skipped: v.pipe(v.boolean(), v.description('Repeated or contradicted in the same request.')),
  reason: v.optional(v.picklist(statusReasons)),
  previous_active: v.optional(v.boolean()),
  current_active: v.optional(v.boolean()),
});
export type StatusResult = Readonly<v.InferOutput<typeof StatusResultSchema>>;

export const StatusSummarySchema = v.object({
  total: wholeNumber,
  succeeded: wholeNumber,
  skipped: wholeNumber,
  failed: wholeNumber,
});

export interface StatusAccess {
  readonly caller: Pick<Caller, 'clientId' | 'crossClient'>;
  readonly askedId: number | undefined;
  readonly campaignIds: CampaignScope;
}

export interface Assignable {
  hasChannel(clientId: number, channelId: number): boolean;
  hasCampaign(clientId: number, campaignId: number): boolean;
}

export interface StatusChange {
  readonly row: TemplateRow;
  readonly active: boolean;
}

export interface StatusPlan {
  readonly results: readonly StatusResult[];
  readonly changes: readonly StatusChange[];
}

type Repetition = Extract<StatusReason, 'duplicate_request' | 'conflicting_action'>;

/** An examined item has all that is known before any read. */
export interface ExaminedItem extends StatusItem {
  /** The address is undefined when no document can have this id. */
  readonly address: DocumentAddress | undefined;
  /** The verdict on equal ids comes before all others, whether the template exists or not. */
  readonly repeated: Repetition | undefined;
}

export function examineItems(items: readonly StatusItem[]): ExaminedItem[] {
  const repeated = repetitions(items.map(({ id, action }) => ({ target: id, action })));
  return items.map((item, index) => ({ ...item, address: parseDocumentId(item.id), repeated: repeated[index] }));
}

/**
 * Skips all but the first of one action on a target, and all of different actions
 * (contract, PATCH /v1/templates/status). Items without a target do not count.
 */
function repetitions(
  items: readonly { readonly target: unknown; readonly action: StatusAction }[],
): readonly (Repetition | undefined)[] {
  const actions = new Map<unknown, Set<StatusAction>>();
  for (const { target, action } of items) actions.set(target, (actions.get(target) ?? new Set()).add(action));
  const seen = new Set<unknown>();
  return items.map(({ target }) => {
    if (target === undefined) return undefined;
    if (actions.get(target)?.size === 2) return 'conflicting_action';
    if (seen.has(target)) return 'duplicate_request';
    seen.add(target);
    return undefined;
  });
}

/** Groups what has succeeded by owner and action, for the audit. */
export function switchedTemplates(
  results: readonly StatusResult[],
): { readonly clientId: number; readonly action: StatusAction; readonly documentIds: readonly string[] }[] {
  const groups = new Map<string, { clientId: number; action: StatusAction; documentIds: string[] }>();
  for (const { id, action, success } of results) {
    const address = parseDocumentId(id);
    if (!success || address === undefined) continue;
    const { clientId } = address;
    const group = groups.get(`${clientId} ${action}`) ?? { clientId, action, documentIds: [] };
    group.documentIds.push(id);
    groups.set(`${clientId} ${action}`, group);
  }
  return [...groups.values()];
}

/** Returns the row of each document. Skipped items count, because `allForeign` needs them. */
export function rowsNeeded(items: readonly ExaminedItem[]): RowName[] {
  return items.flatMap(({ address }) => address ?? []);
}

/**
 * Returns the rows to enable, and all for a caller with a campaign scope. A template outside the operating client is
 * never among them.
 */
export function rowsToJudge(items: readonly ExaminedItem[], rows: RowLookup, access: StatusAccess): TemplateRow[] {
  const found = items.flatMap((item) => {
    if (item.repeated !== undefined || item.address === undefined) return [];
    if (item.action === 'disable' && access.campaignIds === undefined) return [];
    if (isForeign(access, item.address)) return [];
    return rowOfDocument(rows, item.address) ?? [];
  });
  return [...new Set(found)];
}

/**
 * Tells whether every item is an existing document of another client, which needs `BSP_CN` (D17). A caller with it has
 * named the client, and gets a result for each item.
 */
export function allForeign(items: readonly ExaminedItem[], rows: RowLookup, access: StatusAccess): boolean {
  if (access.caller.crossClient) return false;
  return items.every(
    ({ address }) => address !== undefined && isForeign(access, address) && rowOfDocument(rows, address) !== undefined,
  );
}

/**
 * Tells whether the document belongs to another client than the one the request works for: the one asked for, else the
 * caller's own. `BSP_CN` without a client asked for works for every owner.
 */
function isForeign({ caller, askedId }: StatusAccess, { clientId }: DocumentAddress): boolean {
  if (askedId === undefined && caller.crossClient) return false;
  return clientId !== (askedId ?? caller.clientId);
}

/**
 * Decides every item, in the order of the request (D17). Two `_id`s of one template share its `active` flag, so
 * remaining items are grouped by row, and at most one of them takes effect.
 */
export function planStatus(
  items: readonly ExaminedItem[],
  known: { readonly rows: RowLookup; readonly assignable: Assignable },
  access: StatusAccess,
): StatusPlan {
  const judged = items.map((item) => ({ ...item, target: item.repeated ?? rowToSwitch(item.address, known, access) }));
  const repeatedRows = repetitions(
    judged.map(({ target, action }) => ({ target: typeof target === 'string' ? undefined : target, action })),
  );
  const changes: StatusChange[] = [];
  const results = judged.map(({ id, action, target }, index): StatusResult => {
    const settled = repeatedRows[index] ?? target;
    const change = typeof settled === 'string' ? settled : changeOf(settled, action, known.assignable);
    if (typeof change === 'string') {
      const skipped = change === 'duplicate_request' || change === 'conflicting_action';
      return { id, action, success: false, skipped, reason: change };
    }
    changes.push(change);
    const { row, active } = change;
    return { id, action, success: true, skipped: false, previous_active: row.active, current_active: active };
  });
  return { results, changes };
}

function changeOf(row: TemplateRow, action: StatusAction, assignable: Assignable): StatusChange | StatusReason {
  const active = action === 'enable';
  if (row.active === active) return active ? 'already_enabled' : 'already_disabled';
  return (active ? obstacleToEnable(row, assignable) : undefined) ?? { row, active };
}

/** `not_found` comes before `forbidden` (D17). */
function rowToSwitch(
  address: DocumentAddress | undefined,
  { rows, assignable }: { readonly rows: RowLookup; readonly assignable: Assignable },
  access: StatusAccess,
): TemplateRow | 'not_found' | 'forbidden' {
  const row = address === undefined ? undefined : rowOfDocument(rows, address);
  if (address === undefined || row === undefined) return 'not_found';
  if (isForeign(access, address)) return 'forbidden';
  return isVisible(row, documentId(address), { assignable, access }) ? row : 'forbidden';
}

/**
 * Tells whether the caller sees the template, named by a document that it may see (D15). Every caller sees unassigned
 * templates.
 */
function isVisible(
  { clientId, documents }: TemplateRow,
  id: string,
  { assignable, access }: { readonly assignable: Assignable; readonly access: StatusAccess },
): boolean {
  const bounds: ViewBounds = {
    scope: access.campaignIds,
    stands: ({ channelId, campaignId }) =>
      assignable.hasChannel(clientId, channelId) && assignable.hasCampaign(clientId, campaignId),
  };
  const named = documents.find((document) => document.id === id);
  return visibleDocuments(documents, bounds).length > 0 && named !== undefined && !isHidden(named, bounds);
}

function obstacleToEnable(row: TemplateRow, assignable: Assignable): StatusReason | undefined {
  if (row.status !== 'APPROVED') return 'template_not_approved';
  const pairs = row.documents.flatMap(({ pair }) => pair ?? []);
  const onChannel = pairs.filter(({ channelId }) => assignable.hasChannel(row.clientId, channelId));
  if (onChannel.length === 0) return 'channel_unassigned';
  const inCampaign = onChannel.some(({ campaignId }) => assignable.hasCampaign(row.clientId, campaignId));
  return inCampaign ? undefined : 'campaign_unassigned';
}

/** An item that neither succeeded nor was skipped has failed (D17). */
export function summaryOf(results: readonly StatusResult[]): v.InferOutput<typeof StatusSummarySchema> {
  const succeeded = results.filter(({ success }) => success).length;
  const skipped = results.filter((result) => result.skipped).length;
  return { total: results.length, succeeded, skipped, failed: results.length - succeeded - skipped };
}
