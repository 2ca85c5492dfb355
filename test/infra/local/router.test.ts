import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRouter } from '../../../infra/local/router.ts';
import { routes } from '../../../infra/routes.ts';
import cases from '../route-cases.json' with { type: 'json' };

const routeCases = cases as [method: string, path: string, routeKey: string | null][];

function routeKeyFor(declared: readonly { method: string; path: string }[], method: string, path: string) {
  return createRouter(declared)(method, path)?.routeKey ?? null;
}

describe('the routes of the interface', () => {
  it('lists every case once', () => {
    const asked = routeCases.map(([method, path]) => `${method} ${path}`);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.length).toBeGreaterThan(36);
  });

  it.each(routeCases)('%s %s -> %s', (method, path, routeKey) => {
    expect(routeKeyFor(routes, method, path)).toBe(routeKey);
    expect(routeKeyFor(routes.toReversed(), method, path)).toBe(routeKey);
  });

  it('resolves every case in any order of declaration (R1)', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...routes], { minLength: routes.length }), (shuffled) => {
        const routeOf = createRouter(shuffled);
        for (const [method, path, routeKey] of routeCases) {
          expect(routeOf(method, path)?.routeKey ?? null, `${method} ${path}`).toBe(routeKey);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('precedence', () => {
  const declared = [
    { method: 'ANY', path: '/pets/{proxy+}' },
    { method: 'GET', path: '/pets/{proxy+}' },
    { method: 'GET', path: '/pets/dog/{proxy+}' },
    { method: 'GET', path: '/pets/dog/{id}' },
    { method: 'GET', path: '/pets/dog/1' },
    { method: 'ANY', path: '/pets/dog/1' },
    { method: 'GET', path: '/food/{rest+}' },
    { method: 'GET', path: '/food/{kind}/{rest+}' },
    { method: 'GET', path: '/a/{x}/{y}' },
    { method: 'GET', path: '/{w}/b/c' },
    { method: 'GET', path: '/{w}/b/{y}' },
    { method: '$default', path: '$default' },
  ];
  it.each([
    ['GET', '/pets/dog/1', 'GET /pets/dog/1'],
    ['POST', '/pets/dog/1', 'ANY /pets/dog/1'],
    ['GET', '/pets/dog/2', 'GET /pets/dog/{id}'],
    ['GET', '/pets/dog/2/toys', 'GET /pets/dog/{proxy+}'],
    ['GET', '/pets/cat/1', 'GET /pets/{proxy+}'],
    ['PUT', '/pets/cat/1', 'ANY /pets/{proxy+}'],
    ['GET', '/food/dry', 'GET /food/{rest+}'],
    ['GET', '/food/dry/beef', 'GET /food/{kind}/{rest+}'],
    ['PUT', '/other', '$default'],
    ['GET', '/pets', '$default'],
    ['GET', '/a/b/c', 'GET /{w}/b/c'],
    ['GET', '/a/b/d', 'GET /a/{x}/{y}'],
  ])('%s %s -> %s, in both orders', (method, path, routeKey) => {
    expect(routeKeyFor(declared, method, path)).toBe(routeKey);
    expect(routeKeyFor(declared.toReversed(), method, path)).toBe(routeKey);
  });
});

describe('path variables', () => {
  const routeOf = createRouter([
    { method: 'POST', path: '/v1/template/messages/{did}' },
    { method: 'GET', path: '/files/{path+}' },
  ]);

  it('decodes a value after splitting, so that an encoded slash stays inside', () => {
    expect(routeOf('POST', '/v1/template/messages/a%2Fb%20c')?.pathParameters).toEqual({ did: 'a/b c' });
  });

  it('takes the whole rest for a greedy variable', () => {
    expect(routeOf('GET', '/files/a/b/c')?.pathParameters).toEqual({ path: 'a/b/c' });
  });

  it.each(['/v1/template/messages/', '/v1/template/messages', '/V1/template/messages/1', '/v1/template/messages/1/'])(
    'does not match %s',
    (path) => {
      expect(routeOf('POST', path)).toBeUndefined();
    },
  );

  it('throws for malformed percent-encoding', () => {
    expect(() => routeOf('POST', '/v1/template/messages/%zz')).toThrow(URIError);
  });
});
