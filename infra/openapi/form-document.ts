import type { JsonSchema } from './json-schema.ts';
import type { FormDocument, OperationDocument } from './operation.ts';

/** The file of the example is text. */
export function formContent({ name, example }: FormDocument) {
  const { summary, description } = example;
  return {
    schema: { $ref: `#/components/schemas/${name}` },
    encoding: {
      template: { contentType: 'application/json' },
      file: { contentType: 'image/jpeg, image/png, video/mp4, video/3gpp, application/pdf' },
    },
    examples: {
      form: { summary, description, value: { template: example.template, file: 'the bytes of header.png' } },
    },
  };
}

export function formSchemas(
  operations: readonly OperationDocument[],
  schemaOf: (body: NonNullable<OperationDocument['body']>) => JsonSchema,
): Record<string, JsonSchema> {
  return Object.fromEntries(
    operations.flatMap(({ body }) => (body?.form === undefined ? [] : [[body.form.name, formSchema(schemaOf(body))]])),
  );
}

function formSchema(template: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: {
      template: { ...template, description: 'The request, as JSON.' },
      file: { type: 'string', format: 'binary', description: 'The media of the header.' },
    },
    required: ['template'],
    additionalProperties: false,
  };
}
