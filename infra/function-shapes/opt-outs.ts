import { forClients } from './endpoint.ts';
import type { FunctionShape } from './shape.ts';

/** A client's opt-out of a person; the channels are the numbers for which the platform's stop counts. */
const word = {
  tables: {
    directory: ['GetItem', 'Query'],
    messages: ['GetItem', 'PutItem'],
    channels: ['BatchGetItem', 'Query'],
    webhooks: ['GetItem'],
    audit: ['PutItem'],
  },
  secrets: ['PERSON_KEY_SECRET'],
  sendsTo: ['events'],
} as const satisfies Partial<FunctionShape>;

/** The people who want no marketing (D55). */
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
