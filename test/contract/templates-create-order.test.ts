import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { api, platform, synchronize } from '../support/api.ts';
import {
  type CreateOptions,
  create,
  expectRefused,
  type Refused,
  sharedDid,
  templateProbes,
} from '../support/template-probes.ts';

const probes = templateProbes();
beforeAll(() => synchronize('supervisor1001'));
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

/* That the client comes before the DID is shown for every route with a DID by tenancy.test.ts. */
describe('the order of the checks (D5)', () => {
  const good = probes.draft();
  const foreignPair = { channel_id: 502, campaign_id: 10 };

  test.each<[what: string, body: unknown, options: CreateOptions, expected: Refused]>([
    [
      'malformed before the client',
      '{',
      { query: '?client_id=1002' },
      { code: 'malformed_body', message: 'the request body must be valid JSON' },
    ],
    [
      'component faults before the client',
      { ...good, components: [], client_id: 1002 },
      {},
      { message: 'components: a BODY component is required' },
    ],
    [
      'a client_id that is none before another client',
      { ...good, client_id: 1002 },
      { query: '?client_id=abc' },
      { code: 'invalid_client_id', message: 'invalid client_id: abc' },
    ],
    [
      'the DID before the pairs',
      { ...good, channel_campaigns: foreignPair },
      { did: '5499999999999' },
      { status: 403, code: 'did_forbidden', message: 'the did is outside the WABA hierarchy of the client' },
    ],
    [
      'the pairs before the platform',
      { ...good, channel_campaigns: foreignPair },
      {},
      { message: 'client 1001 has no channel 502' },
    ],
    [
      'a campaign that nobody has',
      { ...good, channel_campaigns: [{ channel_id: 501, campaign_id: 99 }] },
      {},
      { message: 'client 1001 has no campaign 99' },
    ],
    [
      'a taken name, whoever created it',
      { ...good, name: 'order_update' },
      { user: 'supervisor1002', did: '5491100000002' },
      { message: 'a template of this name and language exists already' },
    ],
  ])('%s', async (_, body, options, expected) => {
    // Whatever came as far as the platform would be a 502.
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { drop: 'before' } });
    await expectRefused(() => create(body, options), expected);
  });

  test('the token before all else', async () => {
    expect(await api(`POST /v1/templates/${sharedDid}?client_id=x`, { body: '{' })).toMatchObject({
      status: 401,
      text: '{"message":"Unauthorized"}',
    });
  });
});
