import * as v from 'valibot';
import { webhookFields } from '../../lib/platform/webhook/fields.ts';

/** The platform's app of the demo data (demo/platform.json), and the word that its callback has to know (demo/provisioning.json). */
const app = { id: '500000000000001', secret: 'demo-app-secret', verifyToken: 'demo-verify-token' };

const RefusalSchema = v.object({ error: v.object({ message: v.string() }) });

/**
 * Tells the platform simulator where the API takes webhooks, as an operator tells the platform, and its console where the
 * API is. The simulator asks the address of webhooks first, and not for long: so it is asked once before, for as long as
 * its function takes to start. Returns why it is not used; undefined when it is.
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
