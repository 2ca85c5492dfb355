import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { type RouteEntry, routes } from '../../infra/routes.ts';
import { addressOf } from '../support/addresses.ts';
import { tokenOf } from '../support/api.ts';
import { expectDocumented } from '../support/documented.ts';
import { hostileBodies } from '../support/hostile-bodies.ts';

// A caller's body must not end the function for others (D6). Hostile bodies that fill memory, stack or the list of
// faults go to every route. Lambda's limits end local functions too.

const sixMegabytes = 5_900_000;
const oneMegabyte = 1_000_000;
const mostAnswered = 25_000;

const pathOf = (route: RouteEntry) =>
  route.path
    .replace('{did}', '5491100000001')
    .replace('{code}', 'aaaaaaaaaaaaaaaaaaaaaa')
    .replace('{recipient}', 'unknown')
    .replace('{messageTemplateId}', 'unknown');

/** `fetch` sends no body with some methods, so this makes the request itself. */
async function statusOf(route: RouteEntry, body: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const bytes = Buffer.from(body);
  const reply = await answerOf(route, bytes, headers);
  // An answer quotes the body in part, never as a whole.
  expect(reply.text.length).toBeLessThan(mostAnswered);
  const asked = { method: route.method, path: pathOf(route), requestHeaders: new Headers(headers), requestBody: bytes };
  await expectDocumented({ ...asked, ...reply });
  return reply.status;
}

function answerOf(route: RouteEntry, bytes: Buffer, headers: Readonly<Record<string, string>>) {
  return new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
    const sent = request(
      `${addressOf('apiUrl')}${pathOf(route)}`,
      { method: route.method, headers: { ...headers, 'content-length': String(bytes.byteLength) } },
      (answer) => {
        textOf(answer).then((text) => {
          const told = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
          resolve({ status: answer.statusCode ?? 0, headers: new Headers(told), text });
        }, reject);
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

/** A deletion of assignments reads its body only to refuse it (D14). */
const takesBody = (route: RouteEntry) =>
  (route.method !== 'GET' && route.method !== 'DELETE') || route.operation === 'channel-campaigns-remove';

const refusals = [400, 401, 404, 413];
const form = (template: string) =>
  `--b\r\nContent-Disposition: form-data; name="template"\r\n\r\n${template}\r\n--b--\r\n`;

describe.each(routes.filter(takesBody))('$method $path', (route) => {
  const answerTo = (body: string, contentType = 'application/json') =>
    statusOf(route, body, { authorization, 'content-type': contentType });

  test.each(Object.entries(hostileBodies))('%s: refused', { timeout: 120_000 }, async (_, bodyOf) => {
    // The body is nearly as large as the route parses, and larger than most routes do; only a send reads 6 MB.
    const largest = route.operation === 'messages-send' ? sixMegabytes : oneMegabyte;
    for (const bytes of [4_000, 60_000, 250_000, largest]) {
      const status = await answerTo(bodyOf(bytes));
      expect(refusals, `${bytes} bytes: ${status}`).toContain(status);
    }
    // The gateway passes this body as base64.
    expect(refusals).toContain(await answerTo(bodyOf(oneMegabyte), 'application/octet-stream'));
    expect(refusals).toContain(await answerTo(form(bodyOf(oneMegabyte)), 'multipart/form-data; boundary=b'));
  });

  test('as much as the gateway hands over: refused', async () => {
    const bodyOf = hostileBodies['two million empty objects'];
    expect(refusals).toContain(await answerTo(bodyOf?.(sixMegabytes) ?? ''));
    expect(refusals).toContain(await answerTo(bodyOf?.(4_400_000) ?? '', 'application/octet-stream'));
    expect(refusals).toContain(await answerTo(form(bodyOf?.(4_400_000) ?? ''), 'multipart/form-data; boundary=b'));
  });
});

describe.each(routes.filter((route) => !takesBody(route)))('$method $path', (route) => {
  test('takes no body: whatever comes changes nothing', async () => {
    const answers = new Set<number>();
    const names = ['two million empty objects', 'lists that stay open', 'a forbidden key'];
    for (const body of ['', '{', ...names.map((name) => hostileBodies[name]?.(sixMegabytes) ?? '')]) {
      answers.add(await statusOf(route, body, { authorization, 'content-type': 'application/json' }));
    }
    expect(answers.size).toBe(1);
    expect([...answers].every((status) => status < 500)).toBe(true);
  });
});
