import * as v from 'valibot';
import { deployed } from '../lib/aws/deployed.ts';
import { type Endpoint, movedTo, noBody, parse, Refusal } from '../lib/http/page.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';
import { isRedirectCode } from '../lib/redirects/code.ts';
import { deployedRedirects } from '../lib/redirects/deployed.ts';
import type { RedirectStore } from '../lib/redirects/redirect-store.ts';

export const RedirectPath = v.object({ code: v.string() });

interface Ports {
  readonly redirects: Pick<RedirectStore, 'urlOf'>;
}

/** GET /r/{code}: leads a recipient from a message's button to its URL (D19). The route is public. */
export function redirect({ redirects }: Ports): Endpoint {
  return publicEndpoint(noBody, async (event) => {
    const { code } = parse(RedirectPath, event.pathParameters);

    // The checksum rejects guessed and mistyped codes without a read.
    const url = isRedirectCode(code) ? await redirects.urlOf(code) : undefined;
    if (url === undefined) throw new Refusal('redirect_not_found', 'no redirect of this code');

    return movedTo(url);
  });
}

export const handler = deployed(() => redirect({ redirects: deployedRedirects() }));
