import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, type Clients, clientEndpoint, operatingClient } from '../lib/access/page.ts';
import { answer, type Endpoint, invalid, noBody, parse, shaped } from '../lib/http/page.ts';
import { countTo, listOfWords, moment, textFilter } from '../lib/http/query.ts';
import { deployedFinding } from '../lib/messages/deployed/reports.ts';
import { DispatchStateWord, dispatchStatesOf } from '../lib/messages/find/dispatch-state.ts';
import { type FindPorts, FoundDispatchSchema, findDispatches } from '../lib/messages/find/find-dispatches.ts';
import { dispatchesCursor, dispatchesPlaceOf } from '../lib/messages/report/dispatches.ts';

const defaultLimit = 20;
const maxLimit = 100;

export const DispatchesFindQuery = v.object({
  client_id: ClientIdText,
  did: textFilter,
  campaign_id: countTo('campaign_id', Number.MAX_SAFE_INTEGER),
  template: textFilter,
  state: listOfWords(DispatchStateWord),
  from: moment('from'),
  to: moment('to'),
  limit: countTo('limit', maxLimit),
  cursor: textFilter,
});

export const DispatchesFindAnswer = v.object({
  data: v.array(FoundDispatchSchema),
  paging: v.object({ cursors: v.object({ after: v.optional(v.string()) }) }),
});

type Ports = FindPorts & { readonly directory: Clients };

/**
 * GET /v1/dispatches: finds the operating client's dispatches on all DIDs, newest first, with counts, cost and state
 * (D59).
 */
export function dispatchesFind(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: DispatchesFindQuery }, async (event) => {
    const { caller } = event;

    const query = parse(DispatchesFindQuery, event.queryStringParameters ?? {});
    const states = dispatchStatesOf(query.state);
    const askedId = askedClientId({ query: query.client_id });
    const { did, template, campaign_id: campaignId, from: fromMs, to: toMs } = query;
    const question = { clientId: askedId ?? caller.clientId, did, template, campaignId, fromMs, toMs };

    const list = `found ${[...(states ?? [])].sort().join()}`;
    const after = query.cursor === undefined ? undefined : dispatchesPlaceOf(question, query.cursor, list);
    if (query.cursor !== undefined && after === undefined) throw invalid('cursor', 'cursor is not one of this list');

    const asked = { after, limit: query.limit ?? defaultLimit };
    // Concurrent reads save a round trip; the answer waits for the check of the client.
    const [, { data, next }] = await Promise.all([
      operatingClient(ports.directory, caller, askedId),
      findDispatches(ports, { ...question, states }, asked),
    ]);

    const cursors = next === undefined ? {} : { after: dispatchesCursor(question, next, list) };
    return answer(200, shaped(DispatchesFindAnswer, { data, paging: { cursors } }));
  });
}

export const handler = deployed(() => dispatchesFind({ ...deployedAccess(), ...deployedFinding() }));
