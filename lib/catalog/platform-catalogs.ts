import * as v from 'valibot';
import type { CredentialOf } from '../platform/credentials.ts';
import { PlatformFailure } from '../platform/failure.ts';
import type { PlatformTransport } from '../platform/transport.ts';
import type { WabaAccess } from '../platform/waba-access.ts';

/** Returns the id of a WABA's linked catalog, at most one (platform reference, 7), or undefined. */
export type CatalogIdOf = (waba: WabaAccess, read?: { readonly fresh: boolean }) => Promise<string | undefined>;

const keepForMs = 300_000;

const CatalogsReplySchema = v.object({
  data: v.array(v.object({ id: v.string(), name: v.optional(v.string()) })),
});

export type Catalog = v.InferOutput<typeof CatalogsReplySchema>['data'][number];

/** Reads the catalogs that a WABA is linked to. Throws `PlatformFailure`. */
export function linkedCatalogs(
  call: PlatformTransport,
  credentialOf: CredentialOf,
): (waba: WabaAccess) => Promise<readonly Catalog[]> {
  return async ({ wabaId, credential }) => {
    const { accessToken } = await credentialOf(credential);
    const path = `${wabaId}/product_catalogs`;
    const { body } = await call({ method: 'GET', path, query: { fields: 'id,name' }, accessToken, wabaId });
    const reply = v.safeParse(CatalogsReplySchema, body);
    if (!reply.success) throw new PlatformFailure('ambiguous', { cause: new Error('not a list of catalogs') });
    return reply.output.data;
  };
}

/**
 * Reads a WABA's catalog, cached for 5 minutes; `fresh` skips the cache. Throws `PlatformFailure`; a failure is not
 * cached.
 */
export function platformCatalogs(
  call: PlatformTransport,
  credentialOf: CredentialOf,
  nowMs: () => number,
): CatalogIdOf {
  const catalogsOf = linkedCatalogs(call, credentialOf);
  const kept = new Map<string, { readonly catalogId: string | undefined; readonly readAtMs: number }>();
  return async (waba, { fresh } = { fresh: false }) => {
    const known = kept.get(waba.wabaId);
    if (!fresh && known !== undefined && nowMs() - known.readAtMs < keepForMs) return known.catalogId;
    const readAtMs = nowMs();
    const catalogId = (await catalogsOf(waba))[0]?.id;
    kept.set(waba.wabaId, { catalogId, readAtMs });
    return catalogId;
  };
}
