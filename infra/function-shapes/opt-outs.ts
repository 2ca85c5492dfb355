import { forClients } from './endpoint.ts';
import type { FunctionShape } from './shape.ts';

/** `channels` has the numbers for which the platform's stop counts. */
const word = {
  tables: {
    directory: ['GetItem', 'Query'],
    messages: ['GetItem', 'PutItem', 'UpdateItem'],
    channels: ['BatchGetItem', 'Query'],
    webhooks: ['GetItem'],
    audit: ['PutItem'],
  },
  secrets: ['PERSON_KEY_SECRET'],
  sendsTo: ['events'],
} as const satisfies Partial<FunctionShape>;

export const optOutFunctions: Readonly<Record<string, FunctionShape>> = {
  'opt-outs-put': forClients(word),
  'opt-outs-delete': forClients(word),
  'opt-outs-list': forClients({
    tables: {
      directory: ['GetItem', 'Query'],
      messages: ['BatchGetItem', 'Query'],
      channels: ['BatchGetItem', 'Query'],
    },
  }),
};
