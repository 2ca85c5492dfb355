import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { byteMutations } from '../support/byte-mutations.ts';
import { type FormPart, filePart, formBody } from '../support/multipart.ts';
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
  plainBody,
  type Refused,
  templateProbes,
} from '../support/template-probes.ts';

const probes = templateProbes();
const template = (changes = {}) => templateField(probes, changes);

const logBefore = readFileSync(addressOf('functionLog'), 'utf8').length;
afterAll(async () => {
  // The last words of a process that ended with an error that nobody caught.
  const ended = readFileSync(addressOf('functionLog'), 'utf8').slice(logBefore).includes('Node.js v');
  expect(ended).toBe(false);
});

/* How a form is read is shown in test/lib/http/multipart.test.ts; here, that forms pass through everything around it. */

describe('forms that are taken', () => {
  const asFile = (headers = '') =>
    part(
      `Content-Disposition: form-data; name="template"; filename="t.json"${headers}`,
      JSON.stringify(probes.draft({ components: [imageHeader, plainBody] })),
    );
  test.each<[string, () => FormPart[]]>([
    ['a field and a file', () => [template(), filePart]],
    ['the file first', () => [filePart, template()]],
    ['the template as a file part', () => [asFile(), filePart]],
    ['the template as a file part that tells its type', () => [asFile('\nContent-Type: application/json'), filePart]],
    [
      'a file that tells no type',
      () => [template(), part('Content-Disposition: form-data; name="file"', filePart.content)],
    ],
  ])('%s', async (_, parts) => {
    expect(await postForm(parts())).toMatchObject(created);
    const [header] = (await lastSent()).components;
    expect(header).toEqual({ ...imageHeader, example: { header_handle: [expect.stringMatching(/^\d+::/)] } });
    expect(await lastSent('/upload:')).toEqual({ bytes: filePart.content.length });
  });

  test('no file, for a template that needs none', async () => {
    expect(await postForm([template({ components: [plainBody] })])).toMatchObject(created);
  });

  test.each([
    'multipart/form-data; boundary=b',
    'multipart/form-data; charset=utf-8; boundary="b"',
    'Multipart/Form-Data; BOUNDARY=b',
  ])('%s (R10)', async (type) => {
    const body = formBody([template(), filePart], 'b');
    expect(await create(body, { headers: { 'content-type': type } })).toMatchObject(created);
  });

  test('a boundary of all that a boundary may hold (R10)', async () => {
    const boundary = "(all) +_,-./:=?'x";
    const body = formBody([template(), filePart], boundary);
    expect(await create(body, { headers: boundaryIs(`"${boundary}"`) })).toMatchObject(created);
  });
});

describe('forms that are refused; the service goes on', () => {
  // Whatever was sent before, the next request is answered: a name that is taken, so that nothing is created.
  const taken = probes.draft();
  beforeAll(async () => {
    expect(await create(taken)).toMatchObject(created);
  });
  afterEach(async () => {
    const message = 'a template of this name and language exists already';
    await expectRefused(() => postForm([field('template', JSON.stringify(taken))]), { message });
  });

  const whole = formBody([field('template', JSON.stringify(taken)), filePart], 'b');
  const text = whole.toString('latin1');
  test.each<[string, Buffer, string]>([
    ['empty', Buffer.alloc(0), 'the multipart body must begin with the boundary of Content-Type'],
    [
      'garbage',
      Buffer.from([0, 255, 13, 10, 45, 45, 0]),
      'the multipart body must begin with the boundary of Content-Type',
    ],
    ['cut off', whole.subarray(0, text.indexOf('PNG') + 3), 'part 2 is cut off before the closing boundary'],
  ])('%s (R9)', async (_, body, message) => {
    await expectRefused(() => sendForm(body), { code: 'malformed_body', message });
  });

  test('200 damaged forms: 400 each, and none reaches the platform (R9)', async () => {
    // What survives the damage fails on this channel.
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

  const picture = file(filePart.content);
  const source = { ...imageHeader, header_source: 'https://example.com/a.png' };
  test.each<[string, FormPart[], Refused]>([
    [
      'an unknown part',
      [template(), field('colour', 'red')],
      { code: 'malformed_body', message: 'unrecognized part: colour' },
    ],
    [
      'two files',
      [template(), picture, picture],
      { code: 'malformed_body', message: 'part file must occur only once' },
    ],
    [
      'file and header_source',
      [template({ components: [source, plainBody] }), picture],
      { message: 'components[0]: one source of media, received header_source and file' },
    ],
    [
      'a file and no header',
      [template({ components: [plainBody] }), picture],
      { message: 'components: a file came with the request and there is no media HEADER for it' },
    ],
    [
      'a file under a false name',
      [template(), file(filePart.content, 'image/jpeg')],
      { message: 'the media is image/png but was declared as image/jpeg' },
    ],
  ])('%s (R12)', async (_, parts, expected) => {
    await expectRefused(() => postForm(parts), expected);
  });

  test('who and where are asked of forms, too (D5)', async () => {
    expect((await postForm([field('template', '{')], { query: '?client_id=1002' })).status).toBe(400);
    expect(await postForm([template({ client_id: 1002 }), picture])).toMatchObject({
      status: 403,
      body: { code: 'cross_client_forbidden' },
    });
    expect(await postForm([template(), picture], { did: '5511900000003' })).toMatchObject({
      status: 403,
      body: { code: 'did_forbidden' },
    });
  });
});

describe('sizes', () => {
  /** A form of exactly so many bytes, with a picture. */
  function formOf(bytes: number): Buffer {
    const parts = (padding: number) => [
      template(),
      file(Buffer.concat([filePart.content as Buffer, Buffer.alloc(padding)])),
    ];
    return formBody(parts(bytes - formBody(parts(0), 'b').byteLength), 'b');
  }

  test('a body of 4,500,000 bytes is taken, one byte more is 413 (R11)', async () => {
    const [most, more] = [formOf(4_500_000), formOf(4_500_001)];
    expect([most.byteLength, more.byteLength]).toEqual([4_500_000, 4_500_001]);
    expect(await sendForm(most)).toMatchObject(created);
    await expectRefused(() => sendForm(more), {
      status: 413,
      code: 'payload_too_large',
      message: 'the request body must have at most 4500000 bytes',
    });
  });

  test.each([4_800_000, 11_000_000])('a body of %i bytes does not reach the function: 413 (R11)', async (bytes) => {
    const { status, text } = await sendForm(formOf(bytes));
    expect({ status, text }).toEqual({ status: 413, text: '{"message":"Request Entity Too Large"}' });
  });
});
