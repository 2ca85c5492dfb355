import * as v from 'valibot';
import { permissions } from '../lib/access/caller.ts';
import { campaignScope } from '../lib/access/campaign-scope.ts';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { ListedClientSchema } from '../lib/access/listed-client.ts';
import { askedClientId, ClientIdText, clientEndpoint, type Directory, operatingClient } from '../lib/access/page.ts';
import { answer, type Endpoint, noBody, parse, shaped, wholeNumber } from '../lib/http/page.ts';

export const MeQuery = v.object({ client_id: ClientIdText });

export const MeAnswer = v.object({
  user: v.object({
    username: v.optional(v.pipe(v.string(), v.description('Absent once the operator has removed the user.'))),
    client_id: v.pipe(wholeNumber, v.description('The client whose user it is.')),
  }),
  client: v.pipe(ListedClientSchema, v.description('The client that the request works for.')),
  permissions: v.array(v.picklist(permissions)),
  campaigns: v.pipe(
    v.array(v.object({ id: wholeNumber, name: v.string() })),
    v.description('The campaigns of that client that the user sees.'),
  ),
});

/** GET /v1/me: shows the caller's user, client, permissions and campaigns (D59). */
export function me(ports: {
  readonly directory: Pick<Directory, 'hasClient' | 'findClient' | 'findUser' | 'listCampaigns'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const query = parse(MeQuery, event.queryStringParameters ?? {});
    const askedId = askedClientId({ query: query.client_id });

    const clientId = await operatingClient(ports.directory, caller, askedId);

    const [client, user, campaigns, scope] = await Promise.all([
      ports.directory.findClient(clientId),
      ports.directory.findUser(caller.clientId, caller.userId),
      ports.directory.listCampaigns(clientId),
      campaignScope(ports.directory, caller),
    ]);

    return answer(
      200,
      shaped(MeAnswer, {
        user: { username: user?.username, client_id: caller.clientId },
        // The token of a removed client is valid until it expires.
        client: { id: clientId, name: client?.name ?? '' },
        permissions: permissions.filter((permission) => caller.permissions.includes(permission)),
        campaigns: campaigns
          .filter(({ campaignId }) => scope?.has(campaignId) !== false)
          .map(({ campaignId, name }) => ({ id: campaignId, name })),
      }),
    );
  });
}

export const handler = deployed(() => me(deployedAccess()));
