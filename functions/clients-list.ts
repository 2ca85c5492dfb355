import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { ListedClientSchema } from '../lib/access/listed-client.ts';
import { askedClientId, ClientIdText, clientEndpoint, type Directory, operatingClient } from '../lib/access/page.ts';
import { answer, type Endpoint, noBody, parse, Refusal, shaped, wholeNumber } from '../lib/http/page.ts';
import { pageOf, pageQuery, sliceOf } from '../lib/http/query.ts';

export const ClientsListQuery = v.object({ client_id: ClientIdText, ...pageQuery });

export const ClientsListAnswer = v.object({
  data: v.array(ListedClientSchema),
  total: wholeNumber,
  page: wholeNumber,
  page_size: wholeNumber,
});

/**
 * GET /v1/clients: lists every client by id, or the named one, for callers with `BSP_CN`; refuses all others with 403
 * (D59).
 */
export function clientsList(ports: {
  readonly directory: Pick<Directory, 'hasClient' | 'listClients'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: ClientsListQuery }, async (event) => {
    const { caller } = event;

    const query = parse(ClientsListQuery, event.queryStringParameters ?? {});
    const page = pageOf(query);
    const askedId = askedClientId({ query: query.client_id });

    const clientId = await operatingClient(ports.directory, caller, askedId);
    if (!caller.crossClient) {
      throw new Refusal('cross_client_forbidden', 'BSP_CN permission required for cross-client access');
    }

    const clients = (await ports.directory.listClients()).filter(
      (client) => askedId === undefined || client.clientId === clientId,
    );

    const data = sliceOf(clients, page).map((client) => ({ id: client.clientId, name: client.name }));
    const paging = { total: clients.length, page: page.page, page_size: page.size };
    return answer(200, shaped(ClientsListAnswer, { data, ...paging }));
  });
}

export const handler = deployed(() => clientsList(deployedAccess()));
