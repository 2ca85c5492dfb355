import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  ClientIdText,
  clientEndpoint,
  clientIdAdvice,
  DidSchema,
  type Directory,
  isUsableDid,
  operatingClient,
  usableDid,
} from '../lib/access/page.ts';
import { answer, type Endpoint, invalid, noBody, parse, shaped } from '../lib/http/page.ts';
import { countTo, textFilter } from '../lib/http/query.ts';
import { deployedDispatches } from '../lib/messages/deployed/reports.ts';
import {
  dispatchesCursor,
  dispatchesPlaceOf,
  dispatchFilters,
  ListedDispatchSchema,
  listedDispatch,
} from '../lib/messages/report/dispatches.ts';
import type { Dispatches } from '../lib/messages/report/dispatches-store.ts';

const defaultLimit = 20;
const maxLimit = 100;

export const DispatchesListPath = v.object({ did: DidSchema });
export const DispatchesListQuery = v.object({
  client_id: ClientIdText,
  from: dispatchFilters.from,
  to: dispatchFilters.to,
  limit: countTo('limit', maxLimit),
  cursor: textFilter,
});

export const DispatchesListAnswer = v.object({
  data: v.array(ListedDispatchSchema),
  paging: v.object({ cursors: v.object({ after: v.optional(v.string()) }) }),
});

type Ports = { readonly directory: Directory; readonly dispatches: Dispatches; readonly nowMs: () => number };

/**
 * GET /v1/template/messages/{did}: lists the operating client's dispatches on a DID, newest first (D40). A client
 * without the DID may still read its dispatches there.
 */
export function dispatchesList(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: DispatchesListQuery }, async (event) => {
    const { caller } = event;

    const { did } = parse(DispatchesListPath, event.pathParameters ?? {});
    const query = parse(DispatchesListQuery, event.queryStringParameters ?? {});
    const { client_id, limit = defaultLimit, cursor, ...filters } = query;
    const askedId = askedClientId({ query: client_id });

    const all = { clientId: askedId ?? caller.clientId, did };
    const question = { ...filters, ...all };
    const after = cursor === undefined ? undefined : dispatchesPlaceOf('of a DID', question, cursor);
    if (cursor !== undefined && after === undefined) throw invalid('cursor', 'cursor is not one of this list');

    // Concurrent reads save a round trip; the answer waits for the check of the client.
    const [clientId, found, { accepted, next }] = await Promise.all([
      operatingClient(ports.directory, caller, askedId),
      ports.directory.findDid(did),
      ports.dispatches.listAccepted(question, { after, limit }),
    ]);

    // An empty page without a right to the DID is refused, unless the client has dispatches there.
    if (accepted.length === 0 && !isUsableDid(found, clientId)) {
      const newest = await ports.dispatches.listAccepted(all, { after: undefined, limit: 1 });
      if (newest.accepted.length === 0) usableDid(found, clientId, clientIdAdvice(caller, askedId));
    }

    const dispatches = await ports.dispatches.notWithdrawn(accepted);

    const cursors = next === undefined ? {} : { after: dispatchesCursor('of a DID', question, next) };
    return answer(200, shaped(DispatchesListAnswer, { data: dispatches.map(listedDispatch), paging: { cursors } }));
  });
}

export const handler = deployed(() => dispatchesList({ ...deployedAccess(), dispatches: deployedDispatches() }));
