import { describe, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { api, tokenOf } from '../support/api.ts';
import { builtOperations } from '../support/built-operations.ts';

describe('GET /health (D10)', () => {
  test('answers without a token', async () => {
    const reply = await api('GET /health');
    expect(reply).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect(reply.headers.get('content-type')).toContain('application/json');
  });
});

describe('POST /login (D11)', () => {
  test('a right name and password give a token and nothing else', async () => {
    const reply = await api('POST /login', { body: { username: 'supervisor1001', password: 'demo-supervisor1001' } });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ access: true, access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
  });

  test.each(['', '{', '{"username":"a",}', 'username=a&password=b', '<xml/>'])('%j is not JSON: 400', async (body) => {
    expect(await api('POST /login', { body })).toMatchObject({
      status: 400,
      body: { message: expect.any(String), code: 'malformed_body' },
    });
  });

  const wrong: unknown[] = [
    { username: 'supervisor1001', password: 'wrong' },
    { username: 'nobody', password: 'demo-supervisor1001' },
    { username: 'supervisor1001' },
    { password: 'x' },
    { username: 5, password: 5 },
    { username: '', password: '' },
    { username: { $ne: '' }, password: { $ne: '' } },
    {},
  ];
  const texts = [...wrong.map((value) => JSON.stringify(value)), 'null', '[]', '"text"', '5'];
  test.each(texts)('%s is 401 with an empty body', async (body) => {
    const reply = await api('POST /login', { body });
    expect({ status: reply.status, text: reply.text }).toEqual({ status: 401, text: '' });
  });

  test('an unknown user and a wrong password look the same', async () => {
    const shown = async (body: unknown) => {
      const { status, text, headers } = await api('POST /login', { body });
      const names = [...headers.keys()].filter((name) => name !== 'date').sort();
      return { status, text, names, type: headers.get('content-type') };
    };
    expect(await shown({ username: 'nobody-at-all', password: 'x' })).toEqual(
      await shown({ username: 'supervisor1002', password: 'x' }),
    );
  });
});

describe('tokens (D2)', () => {
  const guarded = routes.filter((route) => route.public !== true && builtOperations().includes(route.operation));
  const path = (route: { path: string }) => route.path.replace(/\{\w+\}/g, '5491100000001');

  test.each(guarded.map((route) => [`${route.method} ${path(route)}`]))('%s without a token is 401', async (route) => {
    expect(await api(route)).toMatchObject({ status: 401, text: '{"message":"Unauthorized"}' });
  });

  test.each([
    'Bearer x',
    'Bearer ',
    'Basic YTpi',
    'eyJhbGciOiJub25lIn0.e30.',
    'Bearer eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.eyJjaWQiOjF9.',
  ])('%j is 401', async (authorization) => {
    expect(await api('GET /v1/templates', { headers: { authorization } })).toMatchObject({
      status: 401,
      text: '{"message":"Unauthorized"}',
    });
  });

  test('a token changed in one character is 401', async () => {
    const token = await tokenOf('supervisor1001');
    const [head, claims, signature] = token.split('.') as [string, string, string];
    const forged = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const changed = Buffer.from(JSON.stringify({ ...forged, perms: ['BSP_CN'] })).toString('base64url');
    expect(await api('GET /v1/templates', { token: `${head}.${changed}.${signature}` })).toMatchObject({ status: 401 });
  });
});
