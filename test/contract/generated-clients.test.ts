import { beforeAll, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { api, eventually, synchronize, tokenOf } from '../support/api.ts';
import { sentByClient } from '../support/generated-clients.ts';

beforeAll(() => synchronize('supervisor1001'));

/** The time-out only ends what hangs, because packages may load slowly. */
const timeout = 5 * 60_000;

// `npm run proof -- generators` tries the other generators.
test.each(['openapi-typescript', '@hey-api/openapi-ts'] as const)(
  'what %s makes of the document compiles, and sends a message',
  async (name) => {
    const dispatchId = await sentByClient(name, addressOf('apiUrl'));
    const token = await tokenOf('supervisor1001');
    await eventually('the message has left', async () => {
      const { body } = await api(`GET /v1/template/messages/5491100000001/${dispatchId}`, { token });
      return ['sent', 'delivered', 'read'].includes(body.data[0].state) ? true : undefined;
    });
    expect(dispatchId).toMatch(/^\w{26}$/);
  },
  timeout,
);
