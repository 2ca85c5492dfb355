import { graphError } from './errors.ts';
import type { PlatformRequest } from './platform-request.ts';
import { json, type Reply } from './reply.ts';
import type { World } from './state.ts';
import { tokenOfApp } from './webhooks/subscriptions.ts';

/**
 * Answers `GET /oauth/access_token`, which needs no token: it gives an app's own token for id and secret, to subscribe
 * to webhooks (platform reference, 0). Returns undefined for any other request.
 */
export function answerOauth(world: World, request: PlatformRequest): Reply | undefined {
  if (request.method !== 'GET' || !/^(?:\/v\d+\.\d+)?\/oauth\/access_token\/?$/.test(request.path)) return undefined;
  const [id, secret, grant] = ['client_id', 'client_secret', 'grant_type'].map((name) => request.query.get(name));
  if (!id) throw graphError(101, 'Missing client_id parameter.');
  const app = world.apps.get(id);
  if (app === undefined) {
    throw graphError(101, 'Error validating application. Cannot get application info due to a system error.');
  }
  if (!secret) throw graphError(1, 'Missing client_secret parameter.');
  if (app.secret === undefined || app.secret !== secret) throw graphError(1, 'Error validating client secret.');
  if (grant !== 'client_credentials') {
    throw graphError(
      100,
      '(#100) The simulator gives the tokens of apps (grant_type=client_credentials); it has no signup whose code could be exchanged.',
    );
  }
  return json({ access_token: tokenOfApp({ id, secret }), token_type: 'bearer' });
}
