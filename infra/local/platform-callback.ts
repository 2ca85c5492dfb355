import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { webhookFields } from '../../lib/platform/webhook/fields.ts';
import { explanations } from '../operate/see/explanations.ts';
import demo from './demo/provisioning.json' with { type: 'json' };

/** The app is in the simulator's demo world, its callback's verify token in demo/provisioning.json. */
const app = { id: '500000000000001', secret: 'demo-app-secret', verifyToken: 'demo-verify-token' };

const RefusalSchema = v.object({ error: v.object({ message: v.string() }) });

/**
 * Tells the simulator's console what it shows of the service: where it is, its demo users, its document, and what its
 * codes mean. Throws when the simulator does not take that.
 */
async function introduce(platformUrl: string, apiUrl: string): Promise<void> {
  const document = JSON.parse(await readFile(new URL('../../functions/openapi.json', import.meta.url), 'utf8'));
  const body = JSON.stringify({ url: apiUrl, users: demo.users, document, codes: explanations });
  const reply = await fetch(`${platformUrl}/_control/service`, { method: 'POST', body });
  if (!reply.ok) throw new Error(`the simulator did not take what its console shows: ${await reply.text()}`);
}

/**
 * Registers the API's webhook address at the simulator, and introduces the service to its console. The verification is
 * short, so a first request starts the function. Returns the reason for a refusal, else undefined.
 */
export async function subscribeCallback(platformUrl: string, apiUrl: string): Promise<string | undefined> {
  await introduce(platformUrl, apiUrl);
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
