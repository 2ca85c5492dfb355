import { log } from '../../observe/log.ts';
import type { RedirectOrigin, RedirectStore } from '../../redirects/redirect-store.ts';
import { withRedirects } from '../../redirects/rewriting.ts';

export interface RedirectPorts {
  /** Absent where the deployment has no address that redirects; the wish for them is refused before (`urlChangeFaults`). */
  readonly redirects?: (Pick<RedirectStore, 'put' | 'keep'> & { readonly baseUrl: string }) | undefined;
  readonly nowMs: () => number;
}

/** The redirects that are offered at a base URL, if one is set. */
export function offeredRedirects(baseUrl: string | undefined, store: Pick<RedirectStore, 'put' | 'keep'>) {
  return baseUrl === undefined ? undefined : { baseUrl, put: store.put, keep: store.keep };
}

export interface ButtonRedirects {
  readonly components: readonly unknown[];
  /**
   * To be awaited before the platform is asked: what reads the template there later can let its redirects lead on
   * (lib/redirects/redirect-store.ts). A button that leads nowhere would hurt recipients.
   */
  readonly prepare: () => Promise<void>;
  /** The platform has taken the template: the redirects lead on, for good. */
  readonly keep: () => Promise<void>;
}

/** Checked components with their static URL buttons made redirects if that is wished for (D19). */
export function withButtonRedirects(
  { redirects: offered, nowMs }: RedirectPorts,
  wish: { readonly urlChange: boolean; readonly components: readonly unknown[] },
  origin: Omit<RedirectOrigin, 'createdAtMs'>,
): ButtonRedirects {
  const nothing = async () => undefined;
  if (!wish.urlChange || offered === undefined) {
    return { components: wish.components, prepare: nothing, keep: nothing };
  }
  const { baseUrl, put } = offered;
  const { templateKey } = origin;
  const { components, redirects } = withRedirects(wish.components, { baseUrl, templateKey });
  const codes = redirects.map(({ code }) => code);
  return {
    components,
    prepare: () => put(redirects, { ...origin, createdAtMs: nowMs() }),
    keep: () => keepRedirects(offered, codes, origin),
  };
}

/** Makes redirects permanent and logs how many of them lead nowhere, if any do. */
export async function keepRedirects(
  redirects: Pick<RedirectStore, 'keep'>,
  codes: readonly string[],
  { templateKey, wabaId }: Pick<RedirectOrigin, 'templateKey' | 'wabaId'>,
): Promise<void> {
  if (codes.length === 0) return;
  const missing = await redirects.keep(codes, templateKey);
  if (missing.length > 0) log('redirect.missing', { wabaId, count: missing.length });
}
