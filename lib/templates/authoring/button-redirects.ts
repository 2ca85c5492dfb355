import { log } from '../../observe/log.ts';
import type { RedirectOrigin, RedirectStore } from '../../redirects/redirect-store.ts';
import { withRedirects } from '../../redirects/rewriting.ts';

export interface RedirectPorts {
  /** The port is absent where the deployment has no redirect address; `urlChangeFaults` refuses the wish before. */
  readonly redirects?: (Pick<RedirectStore, 'put' | 'keep'> & { readonly baseUrl: string }) | undefined;
  readonly nowMs: () => number;
}

export function offeredRedirects(baseUrl: string | undefined, store: Pick<RedirectStore, 'put' | 'keep'>) {
  return baseUrl === undefined ? undefined : { baseUrl, put: store.put, keep: store.keep };
}

export interface ButtonRedirects {
  readonly components: readonly unknown[];
  /**
   * The caller awaits this before it calls the platform, so that a later reading can make the redirects permanent
   * (lib/redirects/redirect-store.ts).
   */
  readonly prepare: () => Promise<void>;
  /** Makes the redirects permanent, after the platform has taken the template. */
  readonly keep: () => Promise<void>;
}

/** Returns checked components, with static URL buttons turned into redirects on request (D19). */
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

/** Makes redirects permanent, and logs how many are missing. */
export async function keepRedirects(
  redirects: Pick<RedirectStore, 'keep'>,
  codes: readonly string[],
  { templateKey, wabaId }: Pick<RedirectOrigin, 'templateKey' | 'wabaId'>,
): Promise<void> {
  if (codes.length === 0) return;
  const missing = await redirects.keep(codes, templateKey);
  if (missing.length > 0) log('redirect.missing', { wabaId, count: missing.length });
}
