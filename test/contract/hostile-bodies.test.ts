import { request } from 'node:http';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type RouteEntry, routes } from '../../infra/routes.ts';
import { tokenOf } from '../support/api.ts';
import { hostileBodies } from '../support/hostile-bodies.ts';

// One caller's body must not end the function that others are served by (D6): bodies made to fill the memory, the stack or
// the list of faults, for every route there is and will be. A local function is ended by what ends one of Lambda.

const sixMegabytes = 5_900_000;
const oneMegabyte = 1_000_000;

/** A concrete path of a route. */
const pathOf = (route: RouteEntry) =>
  route.path
    .replace('{did}', '5491100000001')
    .replace('{code}', 'aaaaaaaaaaaaaaaaaaaaaa')
    .replace('{messageTemplateId}', 'unknown');

/** A request with a body on any method, which `fetch` does not do. */
function statusOf(route: RouteEntry, body: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const sent = request(
      `${inject('apiUrl')}${pathOf(route)}`,
      { method: route.method, headers: { ...headers, 'content-length': String(bytes.byteLength) } },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(bytes);
  });
}

let authorization = '';
beforeAll(async () => {
  authorization = `Bearer ${await tokenOf('supervisor1001')}`;
});

const takesBody = (route: RouteEntry) => route.method !== 'GET' && route.method !== 'DELETE';

describe.each(routes.filter(takesBody))('$method $path', (route) => {
  test.each(Object.entries(hostileBodies))('%s: refused', async (_, bodyOf) => {
    // As text it reaches the function as it is, as bytes in base64, which takes a third more.
    const sent: readonly (readonly [contentType: string, bytes: number])[] = [
      ['application/json', sixMegabytes],
      ['application/octet-stream', 4_400_000],
      ['application/json', oneMegabyte],
      ['application/json', 250_000],
      ['application/json', 60_000],
      ['application/json', 4_000],
      ['multipart/form-data; boundary=b', 4_400_000],
    ];
    for (const [contentType, bytes] of sent) {
      const status = await statusOf(route, bodyOf(bytes), { authorization, 'content-type': contentType });
      expect([400, 401, 413], `${contentType}, ${bytes} bytes: ${status}`).toContain(status);
    }
  });
});

describe.each(routes.filter((route) => !takesBody(route)))('$method $path', (route) => {
  test('takes no body: whatever comes changes nothing', async () => {
    const answers = new Set<number>();
    for (const body of ['', '{', ...Object.values(hostileBodies).map((bodyOf) => bodyOf(sixMegabytes))]) {
      answers.add(await statusOf(route, body, { authorization, 'content-type': 'application/json' }));
    }
    expect(answers.size).toBe(1);
    expect([...answers].every((status) => status < 500)).toBe(true);
  });
});
