// Every program here sends this message to the demo data of a local stack, whose address is the first argument.

export const baseUrl = process.argv[2] ?? '';

export const credentials = { username: 'supervisor1001', password: 'demo-supervisor1001' };

export const message = {
  did: '5491100000001',
  type: 'template' as const,
  channel: 'MESSAGING' as const,
  template: { name: 'order_update', language: 'en_US' },
  recipients: [{ to: '5491155550001', params: { body: ['Ana', 'A-1001'], buttons: ['A-1001'] } }],
};
