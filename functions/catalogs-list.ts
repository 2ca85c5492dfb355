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
import { deployedLinkedCatalogs } from '../lib/catalog/deployed.ts';
import type { linkedCatalogs } from '../lib/catalog/platform-catalogs.ts';
import { answer, type Endpoint, noBody, parse, shaped } from '../lib/http/page.ts';
import { atPlatform } from '../lib/platform/refusals.ts';

export const CatalogsListPath = v.object({ did: DidSchema });
export const CatalogsListQuery = v.object({ client_id: ClientIdText });

export const CatalogsListAnswer = v.object({
  data: v.array(v.object({ id: v.string(), name: v.optional(v.string()) })),
});

type Ports = {
  readonly directory: Directory;
  readonly catalogsOf: ReturnType<typeof linkedCatalogs>;
  readonly nowMs: () => number;
};

/** GET /v1/catalogs/{did}: lists the catalogs linked to the DID's WABA, as the platform does now (D59). */
export function catalogsList(ports: Ports): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const { did } = parse(CatalogsListPath, event.pathParameters ?? {});
    const query = parse(CatalogsListQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });

    const { waba } = (await operatingDid(ports.directory, caller, { did, askedId })).did;

    const catalogs = await atPlatform(() => ports.catalogsOf(waba));

    return answer(200, shaped(CatalogsListAnswer, { data: catalogs }));
  });
}

export const handler = deployed(() =>
  catalogsList({ ...deployedAccess(), catalogsOf: deployedLinkedCatalogs({ timeoutMs: 10_000 }) }),
);
