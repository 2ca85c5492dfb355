import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, type Clients, clientEndpoint, operatingClient } from '../lib/access/page.ts';
import { deployedChannels } from '../lib/channels/deployed.ts';
import { answer, type Endpoint, invalid, noBody, parse, shaped } from '../lib/http/page.ts';
import { countTo, textFilter } from '../lib/http/query.ts';
import { type ClientScopePorts, clientScopes } from '../lib/opt-outs/client-scopes.ts';
import { deployedOptOutList } from '../lib/opt-outs/deployed.ts';
import {
  type OptOutList,
  optOutsCursor,
  optOutsPlaceOf,
  otherNamesOf,
  rowsOfPage,
} from '../lib/opt-outs/opt-out-list.ts';
import { OptOutSchema, optOutOf } from '../lib/opt-outs/opt-out-view.ts';
import { noOptOuts } from '../lib/opt-outs/person.ts';

const defaultLimit = 100;
const maxLimit = 1_000;

export const OptOutsListQuery = v.object({
  client_id: ClientIdText,
  limit: countTo('limit', maxLimit),
  cursor: textFilter,
});

export const OptOutsListAnswer = v.object({
  data: v.array(OptOutSchema),
  paging: v.object({ cursors: v.object({ after: v.optional(v.string()) }) }),
});

type Ports = ClientScopePorts & {
  readonly directory: Clients;
  readonly optOuts: OptOutList;
  readonly nowMs: () => number;
};

/**
 * GET /v1/opt-outs: lists the people who have stopped or started marketing of the operating client, each once, in no
 * meaningful order (D55).
 */
export function optOutsList(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: OptOutsListQuery }, async (event) => {
    const query = parse(OptOutsListQuery, event.queryStringParameters ?? {});

    const clientId = await operatingClient(ports.directory, event.caller, askedClientId({ query: query.client_id }));
    const place = query.cursor === undefined ? undefined : optOutsPlaceOf(clientId, query.cursor);
    if (query.cursor !== undefined && place === undefined) throw invalid('cursor', 'cursor is not one of this list');

    const { after, sinceMs = ports.nowMs() } = place ?? {};

    const { listed, next } = await ports.optOuts.page(clientId, { after, limit: query.limit ?? defaultLimit });
    const people = await ports.optOuts.people(listed.map(({ name }) => name));
    const scopes = await clientScopes(clientId, people.values(), ports);
    const others = await ports.optOuts.listed(clientId, otherNamesOf(listed, people));
    const data = rowsOfPage(listed, { others, people, sinceMs }).flatMap(({ name, recipient, ...names }) => {
      const optOut = optOutOf(recipient, people.get(name) ?? noOptOuts, { clientId, scopes });
      return optOut === undefined ? [] : [{ ...optOut, ...names }];
    });

    const cursors = next === undefined ? {} : { after: optOutsCursor(clientId, { after: next, sinceMs }) };
    return answer(200, shaped(OptOutsListAnswer, { data, paging: { cursors } }));
  });
}

export const handler = deployed(() =>
  optOutsList({ ...deployedAccess(), channels: deployedChannels(), optOuts: deployedOptOutList() }),
);
