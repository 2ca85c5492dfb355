import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, type Clients, clientEndpoint, operatingClient } from '../lib/access/page.ts';
import { answer, type Endpoint, noBody, parse, shaped } from '../lib/http/page.ts';
import { day, word } from '../lib/http/query.ts';
import { deployedSpendSums } from '../lib/messages/deployed/spend-sums.ts';
import { spendGroups } from '../lib/messages/spend/count-step.ts';
import { requestedDays, SpendSchema, spendDays, spendOf } from '../lib/messages/spend/spend.ts';
import type { SpendSums } from '../lib/messages/spend/spend-sums-store.ts';

export const SpendGetQuery = v.object({
  client_id: ClientIdText,
  from: day('from'),
  to: day('to'),
  group: word('group', spendGroups),
});

export const SpendGetAnswer = SpendSchema;

type Ports = { readonly directory: Clients; readonly spend: SpendSums; readonly nowMs: () => number };

/**
 * GET /v1/spend: shows what the operating client has spent in some days, by campaign, template, DID or market, and day
 * by day (D58).
 */
export function spendGet(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: SpendGetQuery }, async (event) => {
    const query = parse(SpendGetQuery, event.queryStringParameters ?? {});
    const { from, to } = requestedDays(query, ports.nowMs());
    const { group = 'campaign' } = query;

    const clientId = await operatingClient(ports.directory, event.caller, askedClientId({ query: query.client_id }));
    const kept = await ports.spend.between(clientId, from, to);

    return answer(
      200,
      shaped(SpendGetAnswer, { client_id: clientId, from, to, group, ...spendOf(kept, group), days: spendDays(kept) }),
    );
  });
}

export const handler = deployed(() => spendGet({ ...deployedAccess(), spend: deployedSpendSums() }));
