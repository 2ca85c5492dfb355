import { deliveryHeaders, type events } from './events.ts';
import type { jsonSchemas } from './json-schema.ts';

export function deliveryDocument(
  { type, summary, schema, example }: (typeof events)[number],
  answer: ReturnType<typeof jsonSchemas>,
) {
  const parameters = Object.entries(deliveryHeaders).map(([name, header]) => ({
    name,
    in: 'header',
    description: header.description,
    required: true,
    schema: answer.of(header.schema),
  }));
  return {
    post: {
      operationId: type,
      tags: ['Webhooks'],
      summary,
      description: 'At least once, in no promised order. Verify the signature before you parse the body.',
      security: [],
      parameters,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: answer.of(schema),
            examples: { delivery: { summary, value: example } },
          },
        },
      },
      responses: {
        '2XX': { description: 'Taken. The body is not read.' },
        410: { description: 'Nothing more is wanted here: the configuration is switched off.' },
        '4XX': { description: 'Tried again later.' },
        '5XX': { description: 'Tried again later.' },
      },
    },
  };
}
