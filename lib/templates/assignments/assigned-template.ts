import type { Caller } from '../../access/caller.ts';
import {
  type CampaignScope,
  campaignScope,
  refuseOtherCampaign,
  refuseWithoutCampaigns,
} from '../../access/campaign-scope.ts';
import type { Directory } from '../../access/directory.ts';
import { refuseFaults } from '../../http/refusal.ts';
import { addressOf, rowForClient, templateNotFound } from '../model/document.ts';
import type { TemplateRow } from '../model/row.ts';
import type { RowStore } from '../model/row-store.ts';
import type { SeenTemplate } from '../model/visible-documents.ts';
import { type NamedPairs, type NamedTemplate, pairsCheck } from './assignment-request.ts';
import type { Pair } from './pairs.ts';

/**
 * Reads the client's row of the template of any `_id` (D12), in one round trip. Refuses with the same 404 an unknown
 * `_id`, a deleted template, and a WABA without the client.
 */
export async function templateOfClient(
  stores: { readonly directory: Pick<Directory, 'listWabas'>; readonly rows: RowStore },
  { messageTemplateId, clientId, advice }: NamedTemplate,
): Promise<TemplateRow> {
  const address = addressOf(messageTemplateId, advice);
  const [rows, wabas] = await Promise.all([
    stores.rows.findRows([address, { clientId, templateKey: address.templateKey }]),
    stores.directory.listWabas(clientId),
  ]);
  const row = rowForClient(rows, address, clientId);
  if (row === undefined || !wabas.some(({ wabaId }) => wabaId === row.wabaId)) throw templateNotFound(advice);
  return row;
}

/** Also refuses with 400 pairs that the client does not have, and channels of another WABA (D14). */
export async function templateForPairs(
  stores: {
    readonly directory: Pick<Directory, 'listWabas' | 'listCampaigns' | 'findChannels'>;
    readonly rows: RowStore;
  },
  asked: NamedPairs,
): Promise<TemplateRow> {
  const [template, faultsOn] = await Promise.all([
    templateOfClient(stores, asked),
    pairsCheck(stores.directory, asked.clientId, asked.pairs ?? []),
  ]);
  refuseFaults(faultsOn(template.wabaId));
  return template;
}

/**
 * Reads the template and the caller's scope side by side. Refuses with 400 a caller without campaigns, whether the
 * template exists or not.
 */
export async function seenTemplate(
  directory: Pick<Directory, 'findUser'>,
  caller: Caller,
  template: Promise<TemplateRow>,
): Promise<SeenTemplate> {
  const [scope, found] = await Promise.allSettled([campaignScope(directory, caller), template]);
  if (scope.status === 'rejected') throw scope.reason;
  refuseWithoutCampaigns(scope.value);
  if (found.status === 'rejected') throw found.reason;
  return { row: found.value, scope: scope.value };
}

/** Refuses with 403 a pair in a campaign outside the caller's scope, assigned or not (D15). */
export function refuseForeignCampaign(pair: Pair | undefined, scope: CampaignScope): void {
  if (pair !== undefined) refuseOtherCampaign(pair.campaignId, scope);
}
