import { withRedirects } from '../redirects/rewriting.ts';
import type { RedirectOrigin, RedirectStore } from '../redirects/store.ts';

export interface RedirectPorts {
  /** Absent where the deployment has no address that redirects; the wish for them is refused before (`urlChangeFaults`). */
  readonly redirects?: (Pick<RedirectStore, 'put'> & { readonly baseUrl: string }) | undefined;
  readonly nowMs: () => number;
}

/** The redirects that are offered at a base URL, if one is set. */
export function offeredRedirects(baseUrl: string | undefined, store: Pick<RedirectStore, 'put'>) {
  return baseUrl === undefined ? undefined : { baseUrl, put: store.put };
}

/**
 * Checked components with their static URL buttons made redirects if that is wished for (D19). `store` is to be awaited
 * before the platform is asked: an approved button that leads nowhere would hurt recipients, a redirect that no button has
 * does no harm.
 */
export function withButtonRedirects(
  { redirects: offered, nowMs }: RedirectPorts,
  wish: { readonly urlChange: boolean; readonly components: readonly unknown[] },
  origin: Omit<RedirectOrigin, 'createdAtMs'>,
): { readonly components: readonly unknown[]; readonly store: () => Promise<void> } {
  if (!wish.urlChange || offered === undefined) return { components: wish.components, store: async () => undefined };
  const { baseUrl, put } = offered;
  const { components, redirects } = withRedirects(wish.components, { baseUrl, templateKey: origin.templateKey });
  return { components, store: () => put(redirects, { ...origin, createdAtMs: nowMs() }) };
}
