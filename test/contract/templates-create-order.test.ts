import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { api, platform, synchronize } from '../support/api.ts';
import { type CreateOptions, create, creationsAsked, sharedDid, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
beforeAll(() => synchronize('supervisor1001'));
afterAll(probes.cleanUp);

describe('the order of the checks (D5)', () => {
  const good = probes.draft();
  const crossClient = [403, 'cross_client_forbidden', 'BSP_CN permission required for cross-client access'];
  const outside = [403, 'did_forbidden', 'the did is outside the WABA hierarchy of the client'];
  const advised = [...outside.slice(0, 2), `${outside[2]}; pass client_id to work for another client than your own`];
  const channel = [400, 'invalid_request', 'client 1001 has no channel 502'];
  const foreignPair = { channel_id: 502, campaign_id: 10 };
  const clientId = [400, 'invalid_client_id', 'invalid client_id: abc'];
  const nobody = '5499999999999';

  test.each<[what: string, body: unknown, options: CreateOptions, expected: unknown[]]>([
    [
      'malformed before the client',
      '{',
      { query: '?client_id=1002' },
      [400, 'malformed_body', 'the request body must be valid JSON'],
    ],
    [
      'component faults before the client',
      { ...good, components: [], client_id: 1002 },
      {},
      [400, 'invalid_request', 'components: a BODY component is required'],
    ],
    ['a client_id that is none before the client', { ...good, client_id: 1002 }, { query: '?client_id=abc' }, clientId],
    ['the client before the DID', { ...good, client_id: 1002 }, { did: nobody }, crossClient],
    ['the same, asked in the query', good, { did: nobody, query: '?client_id=1002' }, crossClient],
    ['the DID before the pairs', { ...good, channel_campaigns: foreignPair }, { did: nobody }, outside],
    ['a DID of another WABA is as unknown', good, { did: '5511900000003' }, outside],
    ['and one that is no number', good, { did: 'status' }, outside],
    ['the operator’s own client is on no WABA', good, { user: 'operator' }, advised],
    [
      'an operator for a client that is on another WABA',
      { ...good, client_id: 1001 },
      { user: 'operator', did: '5511900000003' },
      outside,
    ],
    ['the pairs before the platform', { ...good, channel_campaigns: foreignPair }, {}, channel],
    [
      'a campaign that nobody has',
      { ...good, channel_campaigns: [{ channel_id: 501, campaign_id: 99 }] },
      {},
      [400, 'invalid_request', 'client 1001 has no campaign 99'],
    ],
    [
      'a taken name, whoever created it',
      { ...good, name: 'order_update' },
      { user: 'supervisor1002', did: '5491100000002' },
      [400, 'invalid_request', 'a template of this name and language exists already'],
    ],
  ])('%s', async (_, body, options, expected) => {
    // Whatever came as far as the platform would be a 502.
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { drop: 'before' } });
    const before = await creationsAsked();
    const reply = await create(body, options);
    await platform('DELETE /_control/faults');
    expect([reply.status, reply.body.code, reply.body.message]).toEqual(expected);
    expect(await creationsAsked()).toBe(before);
  });

  test('the token before all else', async () => {
    expect(await api(`POST /v1/templates/${sharedDid}?client_id=x`, { body: '{' })).toMatchObject({
      status: 401,
      text: '{"message":"Unauthorized"}',
    });
  });
});
