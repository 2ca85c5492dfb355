import { PlatformWebhookAnswer } from '../../../functions/platform-webhook-receive.ts';
import { PlatformHandshakeQuery } from '../../../functions/platform-webhook-verify.ts';
import { RedirectPath } from '../../../functions/redirect.ts';
import { PlatformWebhookHeaders } from '../../../lib/platform/webhook/signature.ts';
import { demoRedirect, demoSignature } from '../examples.ts';
import { PlatformWebhookBody } from '../named-schemas.ts';
import type { Operations } from '../operation.ts';
import { ofPublicRoutes } from '../refusals.ts';

const webhook = { object: 'business_account', entry: [] } as const;

export const platform: Operations = {
  redirect: {
    tag: 'Platform',
    summary: 'Follow a button',
    description: 'Leads the browser of a recipient to the URL behind a button of a message.',
    path: RedirectPath,
    answers: { 302: { description: 'To the URL.', headers: ['Location'] } },
    refusals: [...ofPublicRoutes, 'redirect_not_found'],
    examples: { pressed: { summary: 'A button is pressed', parameters: { code: demoRedirect.code }, status: 302 } },
  },
  'platform-webhook-verify': {
    tag: 'Platform',
    summary: 'Answer the handshake',
    description: 'The platform asks whether this address is ours before it calls it.',
    query: PlatformHandshakeQuery,
    answers: { 200: { description: 'The challenge.', text: true, headers: ['X-Content-Type-Options'] } },
    refusals: [...ofPublicRoutes, 'verification_refused'],
    examples: {
      asked: {
        summary: 'Asked',
        parameters: { 'hub.mode': 'subscribe', 'hub.verify_token': 'demo-verify-token', 'hub.challenge': '1158201444' },
        status: 200,
        answer: '1158201444',
      },
    },
  },
  'platform-webhook-receive': {
    tag: 'Platform',
    summary: 'Take what the platform tells',
    description:
      'What became of messages, templates and numbers, signed by the platform. What it says is no reason to refuse it.',
    headers: PlatformWebhookHeaders,
    body: { schema: PlatformWebhookBody, optional: true },
    answers: { 200: { description: 'Taken.', schema: PlatformWebhookAnswer } },
    refusals: [...ofPublicRoutes, 'unauthorized', 'payload_too_large', 'webhook_not_taken'],
    examples: {
      nothing: {
        summary: 'Nothing of ours',
        parameters: { 'X-Hub-Signature-256': demoSignature(webhook) },
        body: webhook,
        status: 200,
        answer: { received: true },
      },
    },
  },
};
