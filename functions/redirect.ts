import * as v from 'valibot';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { movedTo } from '../lib/http/answer.ts';
import { noBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';
import { Refusal } from '../lib/http/refusal.ts';
import { isRedirectCode } from '../lib/redirects/code.ts';
import { type RedirectStore, redirectStore } from '../lib/redirects/redirect-store.ts';

export const RedirectPath = v.object({ code: v.string() });

interface Collaborators {
  readonly redirects: Pick<RedirectStore, 'urlOf'>;
  readonly nowMs: () => number;
}

/** GET /r/{code}: leads whoever presses a button of a message to its URL (D19). Public, for the recipients. */
export function redirect({ redirects, nowMs }: Collaborators): Endpoint {
  return publicEndpoint(noBody, async (event) => {
    const { code } = parse(RedirectPath, event.pathParameters);

    // Guessed and mistyped codes are told by their letters alone: they cost no read.
    const url = isRedirectCode(code) ? await redirects.urlOf(code, nowMs()) : undefined;
    if (url === undefined) throw new Refusal('redirect_not_found', 'no redirect of this code');

    return movedTo(url);
  });
}

export const handler = redirect({
  redirects: redirectStore(documentClient(), environmentVariable('REDIRECTS_TABLE')),
  nowMs: Date.now,
});
