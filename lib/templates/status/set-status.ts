import { campaignScope, refuseWithoutCampaigns } from '../../access/campaign-scope.ts';
import type { Directory } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import type { RowName } from '../model/document.ts';
import type { TemplateRow } from '../model/row.ts';
import type { RowStore } from '../model/row-store.ts';
import {
  type Assignable,
  allForeign,
  examineItems,
  planStatus,
  rowsNeeded,
  rowsToJudge,
  type StatusAccess,
  type StatusItem,
  type StatusResult,
} from './bulk-status.ts';
import type { StatusStore } from './status-store.ts';

export interface StatusPorts {
  readonly directory: Pick<Directory, 'findUser' | 'listWabas' | 'listCampaigns' | 'findChannels'>;
  readonly rows: RowStore;
  readonly status: StatusStore;
}

const maxRounds = 5;

/**
 * Switches templates, each by itself (D17), in three round trips. Rows that change meanwhile are decided again, in two
 * more. Refuses a caller without campaigns (400, D15), and one without `BSP_CN` for only foreign items (403).
 */
export async function setStatus(
  { directory, rows: rowStore, status }: StatusPorts,
  asked: Pick<StatusAccess, 'askedId'> & { readonly caller: StatusAccess['caller'] & { readonly userId: string } },
  requested: readonly StatusItem[],
): Promise<readonly StatusResult[]> {
  const { caller, askedId } = asked;
  const items = examineItems(requested);
  const needed = rowsNeeded(items);
  const [stored, campaignIds, isOnWaba] = await Promise.all([
    rowStore.findRows(needed),
    campaignScope(directory, caller),
    membershipsOf(directory, needed),
  ]);
  const found = (name: RowName) => {
    const row = stored(name);
    return row !== undefined && isOnWaba(row) ? row : undefined;
  };
  refuseWithoutCampaigns(campaignIds);
  const access: StatusAccess = { caller, askedId, campaignIds };
  if (allForeign(items, found, access)) {
    throw new Refusal('cross_client_forbidden', 'BSP_CN permission required for cross-client access');
  }
  const written = new Set<string>();
  const newer = new Map<string, TemplateRow | undefined>();
  const rows = (name: RowName) => (newer.has(textOf(name)) ? newer.get(textOf(name)) : found(name));
  for (let round = 1; round <= maxRounds; round++) {
    const assignable = await assignableOf(directory, rowsToJudge(items, rows, access));
    const plan = planStatus(items, { rows, assignable }, access);
    const pending = plan.changes.filter(({ row }) => !written.has(textOf(row)));
    const refused = await status.setActive(pending);
    if (refused.length === 0) return plan.results;
    for (const { row } of pending) written.add(textOf(row));
    for (const { change, current } of refused) {
      written.delete(textOf(change.row));
      newer.set(textOf(change.row), current);
    }
  }
  throw new Error('rows stayed contended while their status was set');
}

/** Tells whether a row's client still has its WABA; other rows count as not found. */
async function membershipsOf(
  directory: Pick<Directory, 'listWabas'>,
  needed: readonly RowName[],
): Promise<(row: TemplateRow) => boolean> {
  const clientIds = [...new Set(needed.map(({ clientId }) => clientId))];
  const wabas = await Promise.all(clientIds.map((clientId) => directory.listWabas(clientId)));
  const memberships = new Set(
    clientIds.flatMap((clientId, index) => wabas[index]?.map(({ wabaId }) => `${clientId} ${wabaId}`) ?? []),
  );
  return ({ clientId, wabaId }) => memberships.has(`${clientId} ${wabaId}`);
}

/** Reads in one round trip. */
async function assignableOf(
  directory: Pick<Directory, 'listCampaigns' | 'findChannels'>,
  rows: readonly TemplateRow[],
): Promise<Assignable> {
  const channelIds = new Map<number, number[]>();
  for (const { clientId, documents } of rows) {
    const ofRow = documents.flatMap(({ pair }) => pair?.channelId ?? []);
    channelIds.set(clientId, [...(channelIds.get(clientId) ?? []), ...ofRow]);
  }
  const known = await Promise.all(
    [...channelIds].map(async ([clientId, ids]) => {
      const [campaigns, channels] = await Promise.all([
        directory.listCampaigns(clientId),
        directory.findChannels(clientId, ids),
      ]);
      return [clientId, { campaigns, channels }] as const;
    }),
  );
  const texts = known.flatMap(([clientId, { campaigns, channels }]) => [
    ...campaigns.map(({ campaignId }) => `campaign ${clientId} ${campaignId}`),
    ...channels.map(({ channelId }) => `channel ${clientId} ${channelId}`),
  ]);
  const existing = new Set(texts);
  return {
    hasChannel: (clientId, channelId) => existing.has(`channel ${clientId} ${channelId}`),
    hasCampaign: (clientId, campaignId) => existing.has(`campaign ${clientId} ${campaignId}`),
  };
}

function textOf({ clientId, templateKey }: RowName): string {
  return `${clientId} ${templateKey}`;
}
