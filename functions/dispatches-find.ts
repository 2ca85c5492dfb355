import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, type Clients, clientEndpoint, operatingClient } from '../lib/access/page.ts';
import { answer, type Endpoint, invalid, noBody, parse, shaped } from '../lib/http/page.ts';
import { countTo, textFilter } from '../lib/http/query.ts';
import { deployedFinding } from '../lib/messages/deployed/reports.ts';
import { type FindPorts, FoundDispatchSchema, findDispatches } from '../lib/messages/find/find-dispatches.ts';
import { dispatchStatesOf } from '../lib/messages/report/dispatch-state.ts';
import { dispatchesCursor, dispatchesPlaceOf, dispatchFilters } from '../lib/messages/report/dispatches.ts';

const defaultLimit = 20;
const maxLimit = 100;

export const DispatchesFindQuery = v.object({
  client_id: ClientIdText,
  ...dispatchFilters,
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
    const { client_id, limit = defaultLimit, cursor, ...filters } = query;
    const state = dispatchStatesOf(filters.state);
    const askedId = askedClientId({ query: client_id });
    const question = { ...filters, state, clientId: askedId ?? caller.clientId };

    const after = cursor === undefined ? undefined : dispatchesPlaceOf('found', question, cursor);
    if (cursor !== undefined && after === undefined) throw invalid('cursor', 'cursor is not one of this list');

    // Concurrent reads save a round trip; the answer waits for the check of the client.
    const [, { data, next }] = await Promise.all([
      operatingClient(ports.directory, caller, askedId),
      findDispatches(ports, question, { after, limit }),
    ]);

    const cursors = next === undefined ? {} : { after: dispatchesCursor('found', question, next) };
    return answer(200, shaped(DispatchesFindAnswer, { data, paging: { cursors } }));
  });
}

export const handler = deployed(() => dispatchesFind({ ...deployedAccess(), ...deployedFinding() }));
