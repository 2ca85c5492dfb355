import { createHmac } from 'node:crypto';
import { redirectCode } from '../../lib/redirects/code.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';

export const demo = {
  did: '5491100000001',
  wabaId: '200000000000001',
  clientId: 1001,
  campaignId: 10,
  channelId: 501,
  catalogId: '600000000000001',
  dispatchId: '01KAH00000000000000000000A',
} as const;

export function demoTemplateId(name: string, language = 'en_US'): string {
  const key = templateKey({ wabaId: demo.wabaId, name, language });
  return documentId({ templateKey: key, clientId: demo.clientId, sequence: 0 });
}

export function demoSignature(body: unknown): string {
  return `sha256=${createHmac('sha256', 'demo-app-secret').update(JSON.stringify(body)).digest('hex')}`;
}

export const groupedExample = {
  campaign_id: demo.campaignId,
  campaign_name: 'Onboarding',
  channels: [{ channel_id: demo.channelId, name: 'Andes sales', did: demo.did, type: 'MESSAGING' }],
} as const;

export const templateExample = {
  id: demoTemplateId('order_update'),
  waba_id: demo.wabaId,
  client_id: demo.clientId,
  active: true,
  namespace: '0b1f4c6e_7a52_4d0e_9c3a_5e8d2f90a101',
  platform_template: {
    id: '1100000000000001',
    name: 'order_update',
    language: 'en_US',
    status: 'APPROVED',
    category: 'UTILITY',
    components: [
      {
        type: 'BODY',
        text: 'Hello {{1}}, your order {{2}} is on its way.',
        example: { body_text: [['Ana', 'A-1042']] },
      },
      { type: 'FOOTER', text: 'Andes Retail' },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Track order',
            url: 'https://andes.example.com/orders/{{1}}',
            example: ['https://andes.example.com/orders/A-1042'],
          },
        ],
      },
    ],
    quality_score: { score: 'GREEN' },
  },
  channel_campaigns: [],
} as const;

export const dispatchExample = {
  dispatch_id: demo.dispatchId,
  client_id: demo.clientId,
  did: demo.did,
  template: { name: 'order_update', language: 'en_US' },
  accepted_at: '2026-11-22T10:00:00.000Z',
  total: 2,
  counts: { pending: 1, held: 0, sent: 1, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 },
  complete: false,
  cost: { amount: 0, currency: 'USD', basis: 'platform', final: false },
} as const;

const url = 'https://example.com/orders/a-17';

export const demoRedirect = {
  url,
  code: redirectCode({
    templateKey: templateKey({ wabaId: demo.wabaId, name: 'order_update', language: 'en_US' }),
    place: 'buttons[0]',
    url,
  }),
} as const;
