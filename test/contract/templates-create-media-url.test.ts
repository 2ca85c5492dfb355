import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import cases from '../lib/http/public-url-cases.json' with { type: 'json' };
import { platform } from '../support/api.ts';
import { create, expectRefused, plainBody, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
let port: number;
let connections = 0;
let listener: Server;

/** Something on this machine that must never be called. */
beforeAll(async () => {
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  port = (listener.address() as AddressInfo).port;
});
afterAll(async () => {
  await new Promise((resolve) => listener.close(resolve));
});

const header = (header_source: unknown) => ({ type: 'HEADER', format: 'IMAGE', header_source });
const createFrom = (source: unknown) => create(probes.draft({ components: [header(source), plainBody] }));
const place = 'components[0].header_source';
const uploads = async () => (await platform('GET /_control/requests?path=/uploads&limit=0')).body.total;

const faultOf: Readonly<Record<string, string>> = {
  credentials: 'must not carry credentials',
  scheme: 'must use https',
  unparsable: 'must be an absolute URL',
  'control char or backslash in raw input': 'must not contain spaces, control characters or backslashes',
};
const rejected = (cases as [string, string, string][]).filter(
  ([url, verdict]) => verdict === 'reject' && url.trim() !== '',
);
/** The first of each kind: all of them are judged in test/lib/http/public-url.test.ts. */
const oneOfEach = [...new Map(rejected.toReversed().map((each) => [each[2], each])).values()];

describe('a URL that does not name a public host is a 400 that names the field, before anything is asked (R40)', () => {
  test.each(oneOfEach)('%s', async (url, _, why) => {
    const message = `${place}: ${faultOf[why] ?? 'must name a public host'}`;
    await expectRefused(() => createFrom(url), { message, at: [place] });
  });

  test('every kind of refusal is among them', () => {
    const kinds = oneOfEach.map(([, , why]) => why);
    expect(kinds).toEqual(expect.arrayContaining(Object.keys(faultOf)));
    expect(kinds.length).toBeGreaterThan(Object.keys(faultOf).length);
  });

  test('this machine is not called, however it is spelled', async () => {
    const hosts = [
      '127.0.0.1',
      'localhost',
      '127.1',
      '0x7f000001',
      '2130706433',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '127.0.0.1.',
    ];
    for (const host of hosts) {
      const message = `${place}: must name a public host`;
      await expectRefused(() => createFrom(`https://${host}:${port}/a.png`), { message, at: [place] });
    }
    expect(connections).toBe(0);
  });

  test('another port than 443', async () => {
    const ask = () => createFrom(`https://example.com:${port}/a.png`);
    await expectRefused(ask, { message: `${place} must use port 443`, at: [place] });
  });

  test.each([
    [5, 'a text that is not empty'],
    [null, 'a text that is not empty'],
    ['', 'a text that is not empty'],
    [`https://example.com/${'a'.repeat(2_048)}`, 'must have at most 2048 characters'],
  ])('%j', async (source, fault) => {
    const { status, body } = await createFrom(source);
    expect([status, body.code, body.message]).toEqual([400, 'invalid_request', `${place}: ${fault}`]);
    for (const { path } of body.errors) expect(path).toBe(place);
  });

  test('in the card of a carousel', async () => {
    const card = (source: string) => ({
      components: [header(source), { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'More' }] }],
    });
    const cards = [card('https://127.0.0.1/a.png'), card('http://example.com/a.png')];
    const components = [plainBody, { type: 'CAROUSEL', cards }];
    const at = (index: number) => `components[1].cards[${index}].components[0].header_source`;
    const ask = () => create(probes.draft({ category: 'MARKETING', components }));
    await expectRefused(ask, { message: `${at(0)}: must name a public host`, at: [at(0), at(1)] });
  });

  test('where nothing is fetched nothing is uploaded', async () => {
    const before = await uploads();
    await createFrom('https://10.0.0.1/a.png');
    await createFrom('https://example.com:8443/a.png');
    expect(await uploads()).toBe(before);
  });
});
