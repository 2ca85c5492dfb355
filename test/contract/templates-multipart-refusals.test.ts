import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type ApiReply, platform } from '../support/api.ts';
import { byteMutations } from '../support/byte-mutations.ts';
import { type FormPart, filePart, formBody } from '../support/multipart.ts';
import { field, file, imageHeader, postForm, sendForm, templateField } from '../support/template-forms.ts';
import { create, creationsAsked, plainBody, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
const template = (changes = {}) => templateField(probes, changes);

beforeAll(async () => {
  // The platform takes 100 creations an hour.
  await platform('POST /_control/clock', { advance_seconds: 3_600 });
});
const logBefore = readFileSync(inject('functionLog'), 'utf8').length;
afterAll(async () => {
  await probes.cleanUp();
  // The last words of a process that ended with an error that nobody caught.
  const ended = readFileSync(inject('functionLog'), 'utf8').slice(logBefore).includes('Node.js v');
  expect(ended).toBe(false);
});

const shown = ({ status, body }: ApiReply) => [status, body?.code, body?.message];
const succeeded = { status: 200, body: { status: 'PENDING', category: 'UTILITY' } };

describe('forms that are refused; the service goes on', () => {
  // Whatever was sent before, the next request is answered: a name that is taken, so that nothing is created.
  const taken = probes.draft();
  beforeAll(async () => {
    expect(await create(taken)).toMatchObject(succeeded);
  });
  afterEach(async () => {
    const exists = [400, 'invalid_request', 'a template of this name and language exists already'];
    expect(shown(await postForm([field('template', JSON.stringify(taken))]))).toEqual(exists);
  });

  const whole = formBody([field('template', JSON.stringify(taken)), filePart], 'b');
  const text = whole.toString('latin1');
  const cut = (marker: string, more = 0) => whole.subarray(0, text.indexOf(marker) + more);
  const noBoundary = 'the multipart body must begin with the boundary of Content-Type';
  const cutOff = (count: number) => `part ${count} is cut off before the closing boundary`;
  test.each<[string, Buffer, string]>([
    ['empty', Buffer.alloc(0), noBoundary],
    ['garbage', Buffer.from([0, 255, 13, 10, 45, 45, 0]), noBoundary],
    ['JSON', Buffer.from(JSON.stringify(taken)), noBoundary],
    ['another boundary', formBody([filePart], 'c'), noBoundary],
    ['cut off in the first boundary', whole.subarray(0, 2), noBoundary],
    ['cut off behind the first boundary', whole.subarray(0, 5), cutOff(1)],
    ['cut off in the headers', cut('form-data', 3), cutOff(1)],
    ['cut off in the template', cut('language'), cutOff(1)],
    ['cut off in the second boundary', cut('\r\n--b\r\n', 3), cutOff(1)],
    ['cut off in the headers of the file', cut('filename', 4), cutOff(2)],
    ['cut off in the file', cut('PNG', 3), cutOff(2)],
    ['cut off in the closing boundary', whole.subarray(0, -5), cutOff(2)],
    ['cut off behind the last boundary', whole.subarray(0, -4), cutOff(3)],
    [
      'text behind the end',
      Buffer.concat([whole, Buffer.from('more')]),
      'the multipart body must not go on behind its closing boundary',
    ],
    ['bare line feeds', Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1'), cutOff(1)],
    ['no parts', Buffer.from('--b--\r\n'), 'part template is required'],
  ])('%s (R9)', async (_, body, message) => {
    expect(shown(await sendForm(body))).toEqual([400, 'malformed_body', message]);
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
  test.each<[string, FormPart[], string, string]>([
    ['an unknown part', [template(), field('colour', 'red')], 'malformed_body', 'unrecognized part: colour'],
    ['a prototype', [template(), field('__proto__', '{}')], 'malformed_body', 'unrecognized part: __proto__'],
    ['two files', [template(), picture, picture], 'malformed_body', 'part file must occur only once'],
    ['two templates', [template(), template()], 'malformed_body', 'part template must occur only once'],
    ['no template', [picture], 'malformed_body', 'part template is required'],
    [
      'a template that is no JSON',
      [field('template', '{')],
      'malformed_body',
      'part template must be valid JSON in UTF-8',
    ],
    [
      'a template that is no object',
      [field('template', 'null')],
      'malformed_body',
      'part template must be a JSON object',
    ],
    [
      'a template in UTF-16',
      [field('template', Buffer.from('{}', 'utf16le'))],
      'malformed_body',
      'part template must be valid JSON in UTF-8',
    ],
    [
      'file and header_source',
      [template({ components: [source, plainBody] }), picture],
      'invalid_request',
      'components[0]: one source of media, received header_source and file',
    ],
    [
      'file and header_handle',
      [template({ components: [{ ...imageHeader, header_handle: '4::a' }, plainBody] }), picture],
      'invalid_request',
      'components[0]: one source of media, received header_handle and file',
    ],
    [
      'a file and no header',
      [template({ components: [plainBody] }), picture],
      'invalid_request',
      'components: a file came with the request and there is no media HEADER for it',
    ],
    [
      'a header and no file',
      [template()],
      'invalid_request',
      'components[0]: a media header needs header_source, header_handle or a file',
    ],
    [
      'a file of another type',
      [template(), file('%PDF-1.7')],
      'invalid_request',
      'IMAGE media must be image/jpeg or image/png, not application/pdf',
    ],
    [
      'a file that is nothing',
      [template(), file('')],
      'invalid_request',
      'IMAGE media must be image/jpeg or image/png',
    ],
    [
      'a file under a false name',
      [template(), file(filePart.content, 'image/jpeg')],
      'invalid_request',
      'the media is image/png but was declared as image/jpeg',
    ],
  ])('%s (R12)', async (_, parts, code, message) => {
    expect(shown(await postForm(parts))).toEqual([400, code, message]);
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
