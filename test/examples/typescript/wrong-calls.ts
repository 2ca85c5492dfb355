// The types refuse each call below; `npm run build` fails when one of them compiles. This file is never executed.
import type { Service } from './service.ts';
import type { ServiceEvent } from './webhook.ts';

const params = { path: { did: '5491100000001' } };
const template = { name: 'order_update', language: 'en_US' };
const message = { did: '5491100000001', type: 'template', channel: 'MESSAGING', template } as const;

export const wrongCalls = [
  // @ts-expect-error There is no such route.
  (service: Service) => service.GET('/v1/template'),
  // @ts-expect-error The method is not one of the route.
  (service: Service) => service.DELETE('/v1/campaigns'),
  // @ts-expect-error The DID is missing.
  (service: Service) => service.POST('/v1/template/messages/{did}', { body: { ...message, recipients: [] } }),
  // @ts-expect-error The query parameter is misspelt.
  (service: Service) => service.GET('/v1/templates', { params: { query: { campain_name: 'Sales' } } }),
  // @ts-expect-error A recipient needs a number.
  (service: Service) => service.POST('/v1/template/messages/{did}', { params, body: { ...message, recipients: [{}] } }),
  // @ts-expect-error The action does not exist.
  (service: Service) => service.PATCH('/v1/templates/status', { body: { action: 'pause', templates: [] } }),
  // @ts-expect-error The events of a synchronization name no dispatch.
  (event: ServiceEvent) => (event.type === 'sync.completed' ? event.data.dispatch_id : ''),
];
