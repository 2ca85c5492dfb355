import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { platform } from '../support/api.ts';
import { type FormPart, filePart, formBody } from '../support/multipart.ts';
import { boundaryIs, imageHeader, part, postForm, templateField } from '../support/template-forms.ts';
import { create, lastSent, plainBody, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
const template = (changes = {}) => templateField(probes, changes);

beforeAll(async () => {
  // The platform takes 100 creations an hour.
  await platform('POST /_control/clock', { advance_seconds: 3_600 });
});
afterAll(probes.cleanUp);

const succeeded = { status: 200, body: { status: 'PENDING', category: 'UTILITY' } };

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
    expect(await postForm(parts())).toMatchObject(succeeded);
    const [header] = (await lastSent()).components;
    expect(header).toEqual({ ...imageHeader, example: { header_handle: [expect.stringMatching(/^\d+::/)] } });
    expect(await lastSent('/upload:')).toEqual({ bytes: filePart.content.length });
  });

  test('no file, for a template that needs none', async () => {
    expect(await postForm([template({ components: [plainBody] })])).toMatchObject(succeeded);
  });

  test.each([
    ['plain-1', 'plain-1'],
    ['"quoted"', 'quoted'],
    ['_under_score_', '_under_score_'],
    ['dots.and.dots', 'dots.and.dots'],
    ['a+b', 'a+b'],
    ["it's", "it's"],
    ['"(all) +_,-./:=?\'x"', "(all) +_,-./:=?'x"],
    ['"charset last"; charset=UTF-8', 'charset last'],
    ['semicolon-behind;', 'semicolon-behind'],
    ['----WebKitFormBoundary7MA4YWxkTrZu0gW', '----WebKitFormBoundary7MA4YWxkTrZu0gW'],
    ['7'.repeat(70), '7'.repeat(70)],
  ])('boundary=%s (R10)', async (spelling, boundary) => {
    const body = formBody([template(), filePart], boundary);
    expect(await create(body, { headers: boundaryIs(spelling) })).toMatchObject(succeeded);
  });

  test.each([
    'multipart/form-data;boundary=b',
    'multipart/form-data; charset=utf-8; boundary=b',
    'Multipart/Form-Data; BOUNDARY=b',
  ])('%s', async (type) => {
    const body = formBody([template(), filePart], 'b');
    expect(await create(body, { headers: { 'content-type': type } })).toMatchObject(succeeded);
  });
});
