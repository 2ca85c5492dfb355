import { WebhookConfigGetQuery } from '../../../functions/webhook-config-get.ts';
import {
  WebhookConfigPutBody,
  WebhookConfigPutHeaders,
  WebhookConfigPutQuery,
} from '../../../lib/webhooks/config/config-request.ts';
import { WebhookConfigSchema } from '../../../lib/webhooks/config/config-view.ts';
import { demo } from '../examples.ts';
import type { Operations } from '../operation.ts';
import { ofBodies, ofCallers, ofClients } from '../refusals.ts';

const url = 'https://hooks.example.com/events';
const events = ['message.failed', 'dispatch.completed'] as const;

export const webhooks: Operations = {
  'webhook-config-put': {
    tag: 'Webhooks',
    summary: 'Set where events go',
    description:
      'Creates or changes where the events of the client go, and which. What waits for the receiver is tried at once. A new signing secret is shown once.',
    query: WebhookConfigPutQuery,
    headers: WebhookConfigPutHeaders,
    body: { schema: WebhookConfigPutBody },
    answers: {
      200: { description: 'The configuration.', schema: WebhookConfigSchema, headers: ['Webhook-Secret'] },
    },
    refusals: [...ofCallers, ...ofClients, ...ofBodies],
    examples: {
      failures: {
        summary: 'Failures and ends, with a new secret',
        parameters: { 'Webhook-Secret-Rotate': 'true' },
        body: { url, active: false, events },
        status: 200,
        answer: { client_id: demo.clientId, url, active: false, events },
      },
    },
  },
  'webhook-config-get': {
    tag: 'Webhooks',
    summary: 'Read where events go',
    description: 'Where the events of the client go, and which. Never the secret.',
    query: WebhookConfigGetQuery,
    answers: { 200: { description: 'The configuration.', schema: WebhookConfigSchema } },
    refusals: [...ofCallers, ...ofClients, 'webhook_config_not_found'],
    examples: {
      own: {
        summary: 'The own client',
        status: 200,
        answer: { client_id: demo.clientId, url, active: false, events },
      },
    },
  },
};
