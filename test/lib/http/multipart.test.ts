import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isMultipart, readMultipart } from '../../../lib/http/multipart.ts';
import { makeHttpEvent } from '../../support/http-event.ts';
import { type FormPart, filePart, formBody, formEvent, templatePart } from '../../support/multipart.ts';
import { refusedLater } from '../../support/refused.ts';
import { thorough } from '../../support/thorough.ts';

const template = { name: 'welcome' };
const file = { bytes: filePart.content, contentType: 'image/png', name: 'logo.png' };

const part = (headers: string, content: string | Buffer = 'x'): FormPart => ({
  headers: headers.split('\n'),
  content,
});
const field = (name: string, content: string | Buffer = 'x') =>
  part(`Content-Disposition: form-data; name="${name}"`, content);

describe('forms that are read', () => {
  test.each([
    ['a field and a file', [templatePart, filePart], { template, file }],
    ['the file first', [filePart, templatePart], { template, file }],
    ['no file', [templatePart], { template }],
    [
      'the template as a file part',
      [part('Content-Disposition: form-data; name="template"; filename="t.json"', '{"name":"welcome"}'), filePart],
      { template, file },
    ],
    [
      'headers in any case, with blanks, escapes and a path',
      [
        templatePart,
        part(
          'CONTENT-DISPOSITION:  Form-Data ; NAME=file;filename="C:\\dir\\a \\"b\\".jpg"\ncontent-type: Image/JPEG; q=1',
        ),
      ],
      { template, file: { bytes: Buffer.from('x'), contentType: 'image/jpeg', name: 'a "b".jpg' } },
    ],
    [
      'a file that tells neither name nor type',
      [templatePart, field('file', '')],
      { template, file: { bytes: Buffer.alloc(0), contentType: 'application/octet-stream', name: 'file' } },
    ],
  ])('%s', async (_, parts, expected) => {
    expect(await readMultipart(formEvent(formBody(parts, 'b')))).toEqual(expected);
  });

  test('a body that the gateway left as text', async () => {
    const event = makeHttpEvent({
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: formBody([field('template', '{"name":"für"}')], 'b').toString('utf8'),
    });
    expect(await readMultipart(event)).toEqual({ template: { name: 'für' } });
  });

  test.each([
    ['an empty line in front', (body: Buffer) => Buffer.concat([Buffer.from('\r\n'), body])],
    ['no line end at the end', (body: Buffer) => body.subarray(0, -2)],
    [
      'blanks behind the boundaries',
      (body: Buffer) =>
        Buffer.from(body.toString('latin1').replaceAll('--b', '--b \t').replace('--b \t--', '--b-- '), 'latin1'),
    ],
  ])('%s', async (_, change) => {
    expect(await readMultipart(formEvent(change(formBody([templatePart, filePart], 'b'))))).toEqual({ template, file });
  });
});

describe('spellings of the boundary (R10)', () => {
  test.each([
    ['multipart/form-data; boundary=plain-1', 'plain-1'],
    ['multipart/form-data; boundary="quoted"', 'quoted'],
    ['multipart/form-data; boundary=_under_score_', '_under_score_'],
    ['multipart/form-data; boundary=dots.and.dots', 'dots.and.dots'],
    ['multipart/form-data; boundary=a+b', 'a+b'],
    ["multipart/form-data; boundary=it's", "it's"],
    ['multipart/form-data; boundary="(all) +_,-./:=?\'x"', "(all) +_,-./:=?'x"],
    ['multipart/form-data;boundary=no-space', 'no-space'],
    ['multipart/form-data ; boundary=space-before', 'space-before'],
    ['multipart/form-data; charset=utf-8; boundary=charset.first', 'charset.first'],
    ['multipart/form-data; boundary="charset last"; charset=UTF-8', 'charset last'],
    ['Multipart/Form-Data; BOUNDARY=CaseKept', 'CaseKept'],
    ['multipart/form-data; boundary=semicolon-behind;', 'semicolon-behind'],
    ['multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW', '----WebKitFormBoundary7MA4YWxkTrZu0gW'],
    [`multipart/form-data; boundary=${'7'.repeat(70)}`, '7'.repeat(70)],
  ])('%s', async (contentType, boundary) => {
    const event = formEvent(formBody([templatePart, filePart], boundary), contentType);
    expect(isMultipart(event)).toBe(true);
    expect(await readMultipart(event)).toEqual({ template, file });
  });

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="ends in a space "',
    'multipart/form-data; boundary="not closed',
    'multipart/form-data; boundary=b; boundary=c',
    `multipart/form-data; boundary=${'7'.repeat(71)}`,
    'multipart/form-data; boundary=bé',
    'multipart/mixed; boundary=b',
    'application/json',
    '',
  ])('refused: %s', async (contentType) => {
    const event = formEvent(formBody([templatePart], 'b'), contentType);
    expect((await refusedLater(() => readMultipart(event))).status).toBe(400);
  });

  test.each([
    ['application/json', false],
    ['multipart/form-datax; boundary=b', false],
    ['', false],
    ['multipart/form-data', true],
  ])('%s is a form: %s', (contentType, expected) => {
    expect(isMultipart(formEvent(Buffer.alloc(0), contentType))).toBe(expected);
  });
});

describe('damaged bodies (R9)', () => {
  const whole = formBody([templatePart, filePart], 'b');

  test('every truncation is refused, save for the last line end', async () => {
    const lengths = [...whole.keys()].filter((length) => length < whole.byteLength - 2);
    const statuses = new Set<number>();
    for (const length of lengths) {
      statuses.add((await refusedLater(() => readMultipart(formEvent(whole.subarray(0, length))))).status);
    }
    expect(statuses).toEqual(new Set([400]));
  });

  const noBoundary = 'the multipart body must begin with the boundary of Content-Type';
  const behind = 'the multipart body must not go on behind its closing boundary';
  test.each<readonly [string | Buffer, string]>([
    ['', noBoundary],
    ['\r\n', noBoundary],
    ['garbage', noBoundary],
    [`hello\r\n${whole.toString('latin1')}`, noBoundary],
    [formBody([templatePart], 'c'), noBoundary],
    [
      '--b\nContent-Disposition: form-data; name="template"\n\n{}\n--b--\n',
      'part 1 is cut off before the closing boundary',
    ],
    [whole.subarray(0, -8), 'part 2 is cut off before the closing boundary'],
    [`${whole.toString('latin1')}more`, behind],
    [`${whole.toString('latin1')}${' '.repeat(1_000)}more`, behind],
    ['--b--\r\n', 'part template is required'],
  ])('%.40j: %s', async (body, message) => {
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    const refusal = await refusedLater(() => readMultipart(formEvent(bytes)));
    expect([refusal.status, refusal.message]).toEqual([400, message]);
  });

  test('thousands of seeded mutations cause nothing but refusals', { timeout: 60_000 }, () => {
    const mutations = thorough ? 10_000 : 1_000;
    const script = join(import.meta.dirname, '../../support/multipart-mutations.ts');
    const child = spawnSync(process.execPath, [script, String(mutations)], { encoding: 'utf8' });
    expect({ status: child.status, stderr: child.stderr }).toEqual({ status: 0, stderr: '' });
    const outcomes = JSON.parse(child.stdout) as Record<string, number>;
    expect(Object.keys(outcomes).toSorted()).toEqual(['400', 'read']);
    expect((outcomes['400'] ?? 0) + (outcomes['read'] ?? 0)).toBe(mutations);
  });
});

describe('sizes (R11)', () => {
  const sized = (bytes: number) => {
    const around = formBody([templatePart, field('file', '')], 'b').byteLength;
    return formEvent(formBody([templatePart, field('file', Buffer.alloc(bytes - around))], 'b'));
  };

  test('a body of 4,500,000 bytes is read', async () => {
    expect((await readMultipart(sized(4_500_000))).template).toEqual(template);
  });

  test('one byte more is 413', async () => {
    const { status, code, message } = await refusedLater(() => readMultipart(sized(4_500_001)));
    expect({ status, code, message }).toEqual({
      status: 413,
      code: 'payload_too_large',
      message: 'the request body must have at most 4500000 bytes',
    });
  });

  test('a template of 1 MiB is read whole, one byte more is 413', async () => {
    const name = 't'.repeat(1_048_576 - '{"name":""}'.length);
    const text = JSON.stringify({ name });
    expect((await readMultipart(formEvent(formBody([field('template', text)], 'b')))).template).toEqual({ name });
    const refusal = await refusedLater(() => readMultipart(formEvent(formBody([field('template', `${text} `)], 'b'))));
    expect([refusal.status, refusal.message]).toEqual([413, 'part template must have at most 1048576 bytes']);
  });
});

describe('parts that are refused (R12)', () => {
  const noName = 'part 2 must have the header Content-Disposition: form-data with a name';
  const badHeader = 'part 2 has a malformed or repeated header';
  const json = 'part template must be valid JSON in UTF-8';
  const disposed = (rest: string) => part(`Content-Disposition: form-data${rest}`);
  const once = 'must occur only once';
  test.each<readonly [readonly FormPart[], string]>([
    [[templatePart, field('extra')], 'unrecognized part: extra'],
    [[templatePart, disposed('; name="image"; filename="a"')], 'unrecognized part: image'],
    [[field('Template')], 'unrecognized part: Template; did you mean template?'],
    [[templatePart, field('files')], 'unrecognized part: files; did you mean file?'],
    [[templatePart, field('__proto__')], 'unrecognized part: __proto__'],
    [[field('x'.repeat(1_000))], `unrecognized part: ${'x'.repeat(80)}`],
    [[templatePart, filePart, filePart], `part file ${once}`],
    [[templatePart, templatePart], `part template ${once}`],
    [[templatePart, disposed('; name="template"; filename="t"')], `part template ${once}`],
    [[filePart], 'part template is required'],
    [[field('template', '{')], `${json}: line 1, column 2: expected a name in double quotes or }, received the end`],
    [[field('template', 'null')], 'part template must be a JSON object'],
    [[field('template', '[]')], 'part template must be a JSON object'],
    [[field('template', '')], `${json}, received nothing`],
    [
      [field('template', Buffer.from([0x22, 0xff, 0x22]))],
      `${json}: line 1, column 2: expected UTF-8, received another encoding`,
    ],
    [[templatePart, part('Content-Type: image/png')], noName],
    [[templatePart, disposed('; filename="a.png"')], noName],
    [[templatePart, part('Content-Disposition: attachment; name="file"')], noName],
    [[templatePart, disposed('; name="file"; name="template"')], noName],
    [[templatePart, disposed('; name="file"; name*=UTF-8\'\'template')], noName],
    [[templatePart, disposed('; name="file')], noName],
    [[templatePart, disposed('; name="fi\rle"')], badHeader],
    [[templatePart, disposed('; name="file"\nContent-Disposition: form-data; name="template"')], badHeader],
    [[templatePart, disposed(';\n name="file"')], badHeader],
    [[templatePart, disposed('; name="file"\n: x')], badHeader],
    [
      [templatePart, disposed('; name="file"\nContent-Transfer-Encoding: base64')],
      'part 2 must not have a Content-Transfer-Encoding but binary',
    ],
    [[templatePart, disposed('; name="file"\nContent-Type: ;')], 'part 2 has a malformed Content-Type'],
    [
      [templatePart, part(`X: ${'x'.repeat(9_000)}`)],
      'part 2 must have headers of at most 8192 bytes and an empty line',
    ],
    [[templatePart, field('file', 'a\r\n--bc\r\n\r\nd')], 'part 3 must begin on a line of its own'],
  ])('form %#', async (parts, message) => {
    const refusal = await refusedLater(() => readMultipart(formEvent(formBody(parts, 'b'))));
    expect([refusal.status, refusal.message]).toEqual([400, message]);
  });

  test('a refused part is named by its path', async () => {
    const refusal = await refusedLater(() =>
      readMultipart(formEvent(formBody([templatePart, filePart, filePart], 'b'))),
    );
    expect(refusal.details.errors).toEqual([{ path: 'file', message: 'part file must occur only once' }]);
  });
});
