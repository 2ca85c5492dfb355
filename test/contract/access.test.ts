import { describe, expect, test } from 'vitest';
import { api, loginOf } from '../support/api.ts';

describe('GET /health (D10)', () => {
  test('answers without a token', async () => {
    const reply = await api('GET /health');
    expect(reply).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect(reply.headers.get('content-type')).toContain('application/json');
  });
});

describe('POST /login (D11)', () => {
  test('a right name and password give a token and nothing else', async () => {
    const reply = await api('POST /login', { body: loginOf('supervisor1001') });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ access: true, access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
  });

  // The other bodies are in test/functions/login.test.ts.
  test('what is no JSON is 400, and what holds no login 401 with an empty body', async () => {
    const replies = [await api('POST /login', { body: '<xml/>' }), await api('POST /login', { body: 'null' })];
    expect(replies.map(({ status, body }) => [status, body?.code])).toEqual([
      [400, 'malformed_body'],
      [401, undefined],
    ]);
    expect(replies[1]?.text).toBe('');
  });

  test('an unknown user and a wrong password look the same', async () => {
    const shown = async (body: unknown) => {
      const { status, text, headers } = await api('POST /login', { body });
      const names = [...headers.keys()].filter((name) => name !== 'date').sort();
      return { status, text, names, type: headers.get('content-type') };
    };
    expect(await shown({ username: 'nobody-at-all', password: 'x' })).toEqual(
      await shown({ ...loginOf('supervisor1002'), password: 'x' }),
    );
  });
});
