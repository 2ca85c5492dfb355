import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { platform } from '../support/api.ts';
import { filePart, formBody } from '../support/multipart.ts';
import { field, file, imageHeader, part, postForm, sendForm, templateField } from '../support/template-forms.ts';
import { create, created, expectRefused, lastSent, plainBody, templateProbes } from '../support/template-probes.ts';

/*
 * A creation gets media by a form and by URL. What is fetched and uploaded is in test/lib/http/{multipart,public-url,
 * fetch-network}.test.ts and test/lib/templates/{authoring,create}/; here forms and refusals pass through the whole route.
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
});
