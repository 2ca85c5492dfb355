import * as v from 'valibot';
import { deployed } from '../lib/aws/deployed.ts';
import { type Endpoint, noBody, plainText, Refusal } from '../lib/http/page.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';
import { deployedPlatformApps, type ReadPlatformApps } from '../lib/platform/webhook/deployed.ts';
import { isVerifyToken } from '../lib/platform/webhook/signature.ts';

/** `safeParse` serves because every bad query gets the same answer. */
export const PlatformHandshakeQuery = v.object({
  'hub.mode': v.literal('subscribe'),
  'hub.verify_token': v.string(),
  'hub.challenge': v.pipe(v.string(), v.maxLength(1_024)),
});

interface Ports {
  readonly apps: ReadPlatformApps;
}

/** GET /platform/webhook: lets the platform verify this address before it calls it (D38). The route is public. */
export function platformWebhookVerify({ apps }: Ports): Endpoint {
  return publicEndpoint(noBody, async (event) => {
    const asked = v.safeParse(PlatformHandshakeQuery, event.queryStringParameters);
    if (!asked.success || !isVerifyToken(await apps(), asked.output['hub.verify_token'])) {
      throw new Refusal('verification_refused', 'not a verify token of this service');
    }
    return plainText(asked.output['hub.challenge']);
  });
}

export const handler = deployed(() => platformWebhookVerify({ apps: deployedPlatformApps() }));
