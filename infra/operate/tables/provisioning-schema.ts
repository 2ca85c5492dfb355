import { toJsonSchema } from '@valibot/to-json-schema';
import { ProvisioningFileSchema } from '../../../lib/provisioning/provisioning-file.ts';

/**
 * Returns the JSON Schema of a provisioning file, as text. It describes single values; the command alone checks that
 * entries fit together, and that a user has either a password or a hash (D36).
 */
export function provisioningSchema(): string {
  const schema = toJsonSchema(ProvisioningFileSchema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ['check', 'partial_check', 'trim'],
    overrideAction: ({ valibotAction, jsonSchema }) => {
      if (valibotAction.type === 'safe_integer') return { ...jsonSchema, type: 'integer' };
      return undefined;
    },
  });
  return `${JSON.stringify({ ...schema, title: 'Provisioning file of the template messaging service' }, null, 2)}\n`;
}
