import * as v from 'valibot';
import { webhookFields } from '../../lib/platform/webhook/fields.ts';

/** The app is in demo/platform.json, its callback's verify token in demo/provisioning.json. */
const app = { id: '500000000000001', secret: 'demo-app-secret', verifyToken: 'demo-verify-token' };

const RefusalSchema = v.object({ error: v.object({ message: v.string() }) });

/**
 * Registers the API's webhook address at the simulator, and the API's address for its console. The verification is
 * short, so a first request starts the function. Returns the reason for a refusal, else undefined.
 */
export async function subscribeCallback(platformUrl: string, apiUrl: string): Promise<string | undefined> {
  await fetch(`${platformUrl}/_control/service`, { method: 'POST', body: JSON.stringify({ url: apiUrl }) });
  const asked = { 'hub.mode': 'subscribe', 'hub.verify_token': app.verifyToken, 'hub.challenge': 'once-before' };
  await (await fetch(`${apiUrl}/platform/webhook?${new URLSearchParams(asked)}`)).arrayBuffer();
  const reply = await fetch(`${platformUrl}/v26.0/${app.id}/subscriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.id}|${app.secret}` },
    body: new URLSearchParams({
      object: 'whatsapp_business_account',
      callback_url: `${apiUrl}/platform/webhook`,
      verify_token: app.verifyToken,
      fields: webhookFields.join(','),
    }),
  });
  if (reply.ok) return undefined;
  const { error } = v.parse(RefusalSchema, await reply.json());
  return error.message;
}
