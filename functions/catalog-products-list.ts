import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { DidSchema } from '../lib/access/did.ts';
import type { Directory } from '../lib/access/directory.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId } from '../lib/access/operating-client.ts';
import { operatingDid } from '../lib/access/operating-did.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { secretReader } from '../lib/aws/secrets.ts';
import { positionOf } from '../lib/catalog/cursor.ts';
import { type CatalogPorts, listProducts } from '../lib/catalog/list-products.ts';
import { platformCatalogs } from '../lib/catalog/platform-catalogs.ts';
import { platformProducts } from '../lib/catalog/platform-products.ts';
import { answer } from '../lib/http/answer.ts';
import { noBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { countTo, textFilter } from '../lib/http/query.ts';
import { invalid } from '../lib/http/refusal.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTransport } from '../lib/platform/transport.ts';

const defaultLimit = 25;
const maxLimit = 100;

export const CatalogProductsPath = v.object({ did: DidSchema });
export const CatalogProductsQuery = v.object({
  catalog_id: v.pipe(v.string(), v.minLength(1, 'catalog_id is required')),
  cursor: textFilter,
  limit: countTo('limit', maxLimit),
  client_id: v.optional(v.string()),
});

type Collaborators = CatalogPorts & {
  readonly directory: Directory;
  readonly dropIdleConnections: () => void;
  readonly nowMs: () => number;
};

/** GET /v1/catalogs/{did}/products: one page of the products of the catalog that is linked to the DID's WABA (D31). */
export function catalogProductsList({ directory, dropIdleConnections, ...ports }: Collaborators): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const { did } = parse(CatalogProductsPath, event.pathParameters ?? {});
    const query = parse(CatalogProductsQuery, event.queryStringParameters ?? {});
    const position = query.cursor === undefined ? undefined : positionOf(query.cursor);
    if (query.cursor !== undefined && position === undefined) throw invalid('cursor', 'cursor is not one of a page');
    const askedId = askedClientId({ query: query.client_id });

    const { waba } = (await operatingDid(directory, caller, { did, askedId })).did;

    dropIdleConnections();
    const asked = { catalogId: query.catalog_id, position, limit: query.limit ?? defaultLimit };
    const page = await listProducts(ports, waba, asked);

    return answer(200, page);
  });
}

const readSecret = secretReader();
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
const platform = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 10_000,
});
const credentialOf = platformCredentials(() => readSecret(credentialsSecret), Date.now);

export const handler = catalogProductsList({
  directory: directoryStore(documentClient(), environmentVariable('DIRECTORY_TABLE')),
  catalogIdOf: platformCatalogs(platform.call, credentialOf, Date.now),
  productPageOf: platformProducts(platform.call, credentialOf),
  dropIdleConnections: platform.dropIdleConnections,
  nowMs: Date.now,
});
