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
import type { SeenTemplate } from '../model/visible.ts';
import { type NamedPairs, type NamedTemplate, pairsJudge } from './assignment-request.ts';
import type { Pair } from './pairs.ts';

/**
 * The client's row of the template that any of its `_id`s names (D12), read in one round trip. Refuses with 404 an `_id` that
 * no document has, a deleted template, and a template of a WABA that the client is not on: the three look alike.
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

/**
 * The same for a request that assigns pairs; refuses with 400 those that the client does not have, and channels of another
 * WABA than the template's (D14).
 */
export async function templateForPairs(
  stores: {
    readonly directory: Pick<Directory, 'listWabas' | 'listCampaigns' | 'findChannels'>;
    readonly rows: RowStore;
  },
  asked: NamedPairs,
): Promise<TemplateRow> {
  const [template, faultsOn] = await Promise.all([
    templateOfClient(stores, asked),
    pairsJudge(stores.directory, asked.clientId, asked.pairs ?? []),
  ]);
  refuseFaults(faultsOn(template.wabaId));
  return template;
}

/**
 * The same for a page that shows or takes away assignments, beside the read of the template. Refuses with 400 a caller
 * without campaigns, be the template there or not.
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

/** Refuses with 403 a pair in a campaign that the caller does not see, whether it is assigned or not (D15). */
export function refuseForeignCampaign(pair: Pair | undefined, scope: CampaignScope): void {
  if (pair !== undefined) refuseOtherCampaign(pair.campaignId, scope);
}
