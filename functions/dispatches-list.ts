import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  ClientIdText,
  clientEndpoint,
  DidSchema,
  type Directory,
  operatingDid,
} from '../lib/access/page.ts';
import { answer, type Endpoint, invalid, noBody, parse, shaped } from '../lib/http/page.ts';
import { countTo, moment, textFilter } from '../lib/http/query.ts';
import { deployedDispatches } from '../lib/messages/deployed.ts';
import {
  dispatchesCursor,
  dispatchesPlaceOf,
  ListedDispatchSchema,
  listedDispatch,
} from '../lib/messages/outcomes/dispatches.ts';
import type { Dispatches } from '../lib/messages/outcomes/dispatches-store.ts';

const defaultLimit = 20;
const maxLimit = 100;

export const DispatchesListPath = v.object({ did: DidSchema });
export const DispatchesListQuery = v.object({
  client_id: ClientIdText,
  from: moment('from'),
  to: moment('to'),
  limit: countTo('limit', maxLimit),
  cursor: textFilter,
});

export const DispatchesListAnswer = v.object({
  data: v.array(ListedDispatchSchema),
  paging: v.object({ cursors: v.object({ after: v.exactOptional(v.string()) }) }),
});

type Ports = { readonly directory: Directory; readonly dispatches: Dispatches; readonly nowMs: () => number };

/** GET /v1/template/messages/{did}: the operating client's dispatches on a DID, newest first (D40). */
export function dispatchesList(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: DispatchesListQuery }, async (event) => {
    const { caller } = event;

    const { did } = parse(DispatchesListPath, event.pathParameters ?? {});
    const query = parse(DispatchesListQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });

    const question = { clientId: askedId ?? caller.clientId, did, fromMs: query.from, toMs: query.to };
    const after = query.cursor === undefined ? undefined : dispatchesPlaceOf(question, query.cursor);
    if (query.cursor !== undefined && after === undefined) throw invalid('cursor', 'cursor is not one of this list');

    // Side by side, to save a round trip; nothing of it is told before the caller may work for the client, on the DID.
    const [, { accepted, next }] = await Promise.all([
      operatingDid(ports.directory, caller, { did, askedId }),
      ports.dispatches.listAccepted(question, { after, limit: query.limit ?? defaultLimit }),
    ]);

    const dispatches = await ports.dispatches.notWithdrawn(accepted);

    const cursors = next === undefined ? {} : { after: dispatchesCursor(question, next) };
    return answer(200, shaped(DispatchesListAnswer, { data: dispatches.map(listedDispatch), paging: { cursors } }));
  });
}

export const handler = deployed(() => dispatchesList({ ...deployedAccess(), dispatches: deployedDispatches() }));
