import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { templatesCreate } from '../../functions/templates-create.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { type FetchedFile, fetchPublic } from '../../lib/http/fetch-network.ts';
import { platformTransport } from '../../lib/platform/transport.ts';
import { pairFaults } from '../../lib/templates/assignments/assignment-request.ts';
import { platformMedia } from '../../lib/templates/authoring/platform-media.ts';
import { templateManagement } from '../../lib/templates/authoring/platform-template-management.ts';
import { creationStore } from '../../lib/templates/create/creation-store.ts';
import { addressOf } from '../support/addresses.ts';
import { platform } from '../support/api.ts';
import { byteMutations } from '../support/byte-mutations.ts';
import { callEndpoint, makeHttpEvent } from '../support/http-event.ts';
import { certificate, type MediaHost, startMediaHost } from '../support/media-host.ts';
import { MemoryAudit } from '../support/memory-audit.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { filePart, formBody } from '../support/multipart.ts';
import { runningTarget } from '../support/running-target.ts';
import {
  boundaryIs,
  field,
  file,
  imageHeader,
  part,
  postForm,
  sendForm,
  templateField,
} from '../support/template-forms.ts';
import {
  create,
  created,
  creationsAsked,
  expectRefused,
  lastSent,
  listedTemplate,
  plainBody,
  sharedDid,
  templateProbes,
} from '../support/template-probes.ts';

/*
 * A creation gets media by a form and by URL. The parts have tests of their own (test/lib/http/multipart.test.ts,
 * public-url.test.ts, fetch-network.test.ts); here media pass through the whole route.
 */

const probes = templateProbes();
const template = (changes = {}) => templateField(probes, changes);
const uploads = async () => (await platform('GET /_control/requests?path=/uploads&limit=0')).body.total;

const logBefore = readFileSync(addressOf('functionLog'), 'utf8').length;
afterAll(async () => {
  // Node.js prints its version when an uncaught error ends a process.
  const ended = readFileSync(addressOf('functionLog'), 'utf8').slice(logBefore).includes('Node.js v');
  expect(ended).toBe(false);
});

describe('forms that are taken', () => {
  test('the file first, the template as a file part that tells its type', async () => {
    const json = JSON.stringify(probes.draft({ components: [imageHeader, plainBody] }));
    const headers =
      'Content-Disposition: form-data; name="template"; filename="t.json"\nContent-Type: application/json';
    expect(await postForm([filePart, part(headers, json)])).toMatchObject(created);
    const [header] = (await lastSent()).components;
    expect(header).toEqual({ ...imageHeader, example: { header_handle: [expect.stringMatching(/^\d+::/)] } });
    expect(await lastSent('/upload:')).toEqual({ bytes: filePart.content.length });
  });

  test('a boundary of all that a boundary may hold, in a type of any letter case (R10)', async () => {
    const boundary = "(all) +_,-./:=?'x";
    const body = formBody([template(), filePart], boundary);
    expect(await create(body, { headers: boundaryIs(`"${boundary}"`) })).toMatchObject(created);
    const headers = { 'content-type': 'Multipart/Form-Data; BOUNDARY=b' };
    expect(await postForm([template({ components: [plainBody] })], { headers })).toMatchObject(created);
  });

  test('a body of 4,500,000 bytes is taken, one byte more is 413, and much more does not reach the function (R11)', async () => {
    const parts = (padding: number) => [
      template(),
      file(Buffer.concat([filePart.content as Buffer, Buffer.alloc(padding)])),
    ];
    const formOf = (bytes: number) => formBody(parts(bytes - formBody(parts(0), 'b').byteLength), 'b');
    const [most, more] = [formOf(4_500_000), formOf(4_500_001)];
    expect([most.byteLength, more.byteLength]).toEqual([4_500_000, 4_500_001]);
    expect(await sendForm(most)).toMatchObject(created);
    await expectRefused(() => sendForm(more), {
      status: 413,
      code: 'payload_too_large',
      message: 'the request body must have at most 4500000 bytes',
    });
    const { status, text } = await sendForm(formOf(4_800_000));
    expect({ status, text }).toEqual({ status: 413, text: '{"message":"Request Entity Too Large"}' });
  });
});

describe('forms that are refused; the service goes on', () => {
  // After any body the next request must be answered. Its name is taken, so that no template is created.
  const taken = probes.draft();
  beforeAll(async () => {
    expect(await create(taken)).toMatchObject(created);
  });
  afterEach(async () => {
    const message = 'a template of this name and language exists already';
    await expectRefused(() => postForm([field('template', JSON.stringify(taken))]), { message });
  });

  test('empty, cut off, and a part too many (R9, R12)', async () => {
    const whole = formBody([field('template', JSON.stringify(taken)), filePart], 'b');
    const cut = whole.subarray(0, whole.toString('latin1').indexOf('PNG') + 3);
    const noBoundary = 'the multipart body must begin with the boundary of Content-Type';
    const code = 'malformed_body';
    await expectRefused(() => sendForm(Buffer.alloc(0)), { code, message: noBoundary });
    await expectRefused(() => sendForm(cut), { code, message: 'part 2 is cut off before the closing boundary' });
    const picture = file(filePart.content);
    const twice = () => postForm([template(), picture, picture]);
    await expectRefused(twice, { code, message: 'part file must occur only once' });
    await expectRefused(() => postForm([template({ components: [plainBody] }), picture]), {
      message: 'components: a file came with the request and there is no media HEADER for it',
    });
  });

  test('200 damaged forms: 400 each, and none reaches the platform (R9)', async () => {
    // A form that is still readable after the damage fails on this channel.
    const pairs = { channel_campaigns: { channel_id: 999, campaign_id: 999 } };
    const form = formBody([template(pairs), filePart], 'b');
    const before = await creationsAsked();
    const outcomes = new Set<string>();
    for (const body of byteMutations(form, 7, 200)) {
      const { status, body: answer } = await sendForm(body);
      outcomes.add(`${status} ${answer?.code}`);
    }
    expect(outcomes).toEqual(new Set(['400 invalid_request', '400 malformed_body']));
    expect(await creationsAsked()).toBe(before);
  });

  test('who and where are asked of forms, too (D5)', async () => {
    const parts = (changes = {}) => [template(changes), file(filePart.content)];
    expect((await postForm([field('template', '{')], { query: '?client_id=1002' })).status).toBe(400);
    expect(await postForm(parts({ client_id: 1002 }))).toMatchObject({
      status: 403,
      body: { code: 'cross_client_forbidden' },
    });
    expect(await postForm(parts(), { did: '5511900000003' })).toMatchObject({
      status: 403,
      body: { code: 'did_forbidden' },
    });
  });
});

const header = (header_source: unknown) => ({ ...imageHeader, header_source });
const place = 'components[0].header_source';

describe('a URL that does not name a public host is a 400 that names the field, before anything is asked (R40)', () => {
  const createFrom = (source: unknown) => create(probes.draft({ components: [header(source), plainBody] }));

  test('this machine is not called, however it is spelled, and no other port than 443', async () => {
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const before = await uploads();
    const spellings = '127.0.0.1 localhost 127.1 0x7f000001 2130706433 [::ffff:127.0.0.1] 0.0.0.0 127.0.0.1.';
    for (const host of spellings.split(' ')) {
      const message = `${place}: must name a public host`;
      await expectRefused(() => createFrom(`https://${host}:${port}/a.png`), { message, at: [place] });
    }
    const elsewhere = () => createFrom(`https://example.com:${port}/a.png`);
    await expectRefused(elsewhere, { message: `${place} must use port 443`, at: [place] });
    expect([connections, await uploads()]).toEqual([0, before]);
    await new Promise((resolve) => listener.close(resolve));
  });

  test('in the cards of a carousel', async () => {
    const card = (source: string) => ({
      components: [header(source), { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'More' }] }],
    });
    const cards = [card('https://127.0.0.1/a.png'), card('http://example.com/a.png')];
    const components = [plainBody, { type: 'CAROUSEL', cards }];
    const at = (index: number) => `components[1].cards[${index}].components[0].header_source`;
    const ask = () => create(probes.draft({ category: 'MARKETING', components }));
    await expectRefused(ask, { message: `${at(0)}: must name a public host`, at: [at(0), at(1)] });
  });
});

/*
 * The running stack fetches from the public network only, and no test may depend on that. Here the endpoint uses the
 * stack's stores and platform, and resolves media.example.com to this machine.
 */
describe('header_source, by the page itself', () => {
  let host: MediaHost | undefined;
  afterEach(() => host?.close());

  /** Builds the endpoint, which finds media.example.com at this port of the machine. */
  function endpointBeside(port: number) {
    const here = { address: '127.0.0.1', family: 4 };
    const isAllowedAddress = (address: string) => address === here.address;
    const ports = { lookup: async () => [here], isAllowedAddress, port, ca: certificate };
    const { documentClient, tableName } = runningTarget();
    const directory = directoryStore(documentClient, tableName('directory'));
    const transport = platformTransport({ baseUrl: addressOf('platformUrl'), version: 'v25.0', timeoutMs: 8_000 });
    const credentialOf = async () => ({ accessToken: 'demo-platform-token', appId: '500000000000001' });
    return templatesCreate({
      directory,
      creations: creationStore(documentClient, tableName('templates')),
      management: templateManagement(transport, credentialOf),
      pairFaults: (of, pairs) => pairFaults(directory, of, pairs),
      fetchPublic: (url, options): Promise<FetchedFile> => fetchPublic(url, { ...options, ports }),
      uploadMedia: platformMedia(transport, credentialOf),
      events: new MemoryEvents(),
      audit: new MemoryAudit(),
      nowMs: Date.now,
    });
  }

  /** Creates a template whose picture is at media.example.com, where this server answers. */
  async function createFrom(answers: RequestListener) {
    host = await startMediaHost(answers);
    const draft = probes.draft({ components: [header('https://media.example.com/p/logo.png?v=1'), plainBody] });
    const token = { userId: 'u-1', clientId: 1001, permissions: [], expiresAtSeconds: 9_999_999_999 };
    const event = makeHttpEvent({ token, body: JSON.stringify(draft), pathParameters: { did: sharedDid } });
    return { draft, reply: await callEndpoint(endpointBeside(host.port), event) };
  }

  test('is fetched, uploaded and created with the handle; the listing shows it', async () => {
    const { draft, reply } = await createFrom((_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' }).end(filePart.content);
    });
    expect(reply).toMatchObject(created);
    expect(host?.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /p/logo.png?v=1']);
    expect(await lastSent('/upload:')).toEqual({ bytes: filePart.content.length });
    const [sent] = (await lastSent()).components;
    expect(sent).toEqual({ ...imageHeader, example: { header_handle: [expect.stringMatching(/^\d+::/)] } });
    expect(await listedTemplate(1001, draft.name)).toMatchObject({
      platform_template: { components: [sent, plainBody] },
    });
  });

  test('a redirect is a 400 that names it, and nothing is uploaded or created', async () => {
    const asked = async () => (await platform('GET /_control/requests?method=POST&limit=0')).body.total;
    const before = await asked();
    const { draft, reply } = await createFrom((_, response) => {
      response.writeHead(302, { location: 'https://example.com/' }).end();
    });
    const message = `${place} must be answered with status 200 and no redirect, not with 302`;
    expect([reply.status, reply.body]).toEqual([
      400,
      { code: 'invalid_request', message, errors: [{ path: place, message }] },
    ]);
    expect(await asked()).toBe(before);
    expect(await listedTemplate(1001, draft.name)).toBeUndefined();
  });
});
