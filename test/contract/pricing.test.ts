import { describe, expect, test } from 'vitest';
import { type ApiReply, api, type DemoUser, tokenOf } from '../support/api.ts';
import { onDeployedStage } from '../support/demo.ts';

async function price(query: Readonly<Record<string, string>>, user: DemoUser = 'agent1001'): Promise<ApiReply> {
  return api(`GET /v1/pricing?${new URLSearchParams(query)}`, { token: await tokenOf(user) });
}

describe('the price of a message (D32)', () => {
  // A stage may have other rates (rateSourceUrl).
  test.skipIf(onDeployedStage).each([
    [{ market: 'BR', category: 'Marketing' }, 'BR', 'Marketing', 0.0625, /^list rate .*effective 2026-10-01$/],
    [{ market: 'br', category: 'uTILITY' }, 'BR', 'Utility', 0.0068, /^list rate/],
    [{ market: 'US', category: 'Authentication' }, 'US', 'Authentication', 0.0034, /North America/],
    [{ market: 'AQ', category: 'Marketing' }, 'AQ', 'Marketing', 0.0604, /group Other/],
    [{ market: 'xk', category: 'Utility' }, 'XK', 'Utility', 0.0077, /group Other/],
    [{ market: 'DE', category: 'Service' }, 'DE', 'Service', 0, /service messages are free/],
  ] as const)('%j', async (query, market, category, amount, note) => {
    const { status, body } = await price(query);
    expect([status, body]).toEqual([
      200,
      {
        market,
        currency: 'USD',
        category,
        rate: { amount, currency: 'USD' },
        source: expect.stringMatching(/rate card/),
        note: expect.stringMatching(note),
      },
    ]);
  });

  test('is the same for every client', async () => {
    const query = { market: 'MX', category: 'Utility', client_id: '1001' };
    const { text } = await price(query);
    for (const user of ['operator', 'supervisor1001', 'supervisor1002'] as const) {
      expect((await price(query, user)).text).toBe(text);
    }
  });
});

describe('refusals', () => {
  const noCode = (received: string) =>
    `no rate for that market and category: market must be a two-letter code (ISO 3166-1 alpha-2), received ${received}`;
  const categories = 'category must be Authentication, Marketing, Utility or Service, received "Promotional"';
  test.each([
    [{ category: 'Marketing' }, 400, 'invalid_request', 'market is required'],
    [{ market: '', category: 'Marketing' }, 400, 'invalid_request', 'market is required'],
    [{ market: 'BR' }, 400, 'invalid_request', 'category is required'],
    [{ market: 'BR', category: '' }, 400, 'invalid_request', 'category is required'],
    [{ market: 'BR', category: 'Promotional' }, 400, 'invalid_request', categories],
    [{ market: 'XX', category: 'Promotional' }, 400, 'invalid_request', categories],
    [{ market: 'BR', category: 'Marketing', client_id: 'one' }, 400, 'invalid_client_id', 'invalid client_id: one'],
    [{ market: 'XX', category: 'Marketing' }, 404, 'rate_not_found', 'no rate for that market and category'],
    [{ market: 'Brazil', category: 'Service' }, 404, 'rate_not_found', noCode('"Brazil"; did you mean BR?')],
    [{ market: 'UK', category: 'Service' }, 404, 'rate_not_found', noCode('"UK"; did you mean GB?')],
  ])('%j', async (query, status, code, message) => {
    const { status: answered, body } = await price(query as Record<string, string>);
    expect([answered, body.code, body.message]).toEqual([status, code, message]);
  });

  test('both missing are both named', async () => {
    const { body } = await price({});
    expect(body.errors.map(({ message }: { message: string }) => message)).toEqual([
      'market is required',
      'category is required',
    ]);
  });

  test('a repeated parameter is none of the values: 400 and 404', async () => {
    const token = await tokenOf('agent1001');
    expect((await api('GET /v1/pricing?market=BR&market=BR&category=Service', { token })).status).toBe(404);
    expect((await api('GET /v1/pricing?market=BR&category=Service&category=Utility', { token })).status).toBe(400);
  });

  test('no token: 401', async () => {
    expect((await api('GET /v1/pricing?market=BR&category=Marketing')).status).toBe(401);
  });
});
