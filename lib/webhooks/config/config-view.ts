import * as v from 'valibot';
import { documentedAs, wholeNumber } from '../../http/documented.ts';
import { EventTypeWord } from '../event.ts';
import type { WebhookConfig } from './config.ts';
import { type Trouble, TroubleSchema } from './trouble.ts';

/** A later version may have stored more kinds of event. */
export const WebhookConfigSchema = v.object({
  client_id: wholeNumber,
  url: v.string(),
  active: v.boolean(),
  events: v.optional(
    v.array(
      v.pipe(
        v.string(),
        documentedAs(() => EventTypeWord),
      ),
    ),
  ),
  trouble: v.optional(
    v.pipe(TroubleSchema, v.description('What is wrong with the receiver, where it is not well. GET alone tells it.')),
  ),
});

/**
 * Returns a configuration in an answer (contract, PUT and GET /v1/webhook/config), with `events` once they were set
 * (D41), and without the secret.
 */
export function configView({ clientId, url, active, events }: WebhookConfig, trouble?: Trouble) {
  return { client_id: clientId, url, active, events, trouble };
}
