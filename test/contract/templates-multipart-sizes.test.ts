import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, platform } from '../support/api.ts';
import { filePart, formBody } from '../support/multipart.ts';
import { field, file, postForm, sendForm, templateField } from '../support/template-forms.ts';
import { plainBody, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
const template = (changes = {}) => templateField(probes, changes);

beforeAll(async () => {
  // The platform takes 100 creations an hour.
  await platform('POST /_control/clock', { advance_seconds: 3_600 });
});
afterAll(probes.cleanUp);

const shown = ({ status, body }: ApiReply) => [status, body?.code, body?.message];
const succeeded = { status: 200, body: { status: 'PENDING', category: 'UTILITY' } };

describe('sizes', () => {
  test('text over 1 MiB is 413', async () => {
    const form = [field('template', JSON.stringify(probes.draft()).padEnd(1_048_577)), file(filePart.content)];
    expect(shown(await postForm(form))).toEqual([
      413,
      'payload_too_large',
      'part template must have at most 1048576 bytes',
    ]);
  });

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
    expect(await sendForm(most)).toMatchObject(succeeded);
    expect(shown(await sendForm(more))).toEqual([
      413,
      'payload_too_large',
      'the request body must have at most 4500000 bytes',
    ]);
  });

  test.each([4_800_000, 11_000_000])('a body of %i bytes does not reach the function: 413 (R11)', async (bytes) => {
    const { status, text } = await sendForm(formOf(bytes));
    expect({ status, text }).toEqual({ status: 413, text: '{"message":"Request Entity Too Large"}' });
  });

  test('a file of more bytes than its format takes', async () => {
    const clip = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(3_670_016)]);
    const form = [
      template({ category: 'MARKETING', components: [{ type: 'HEADER', format: 'GIF' }, plainBody] }),
      file(clip, 'video/mp4'),
    ];
    expect(shown(await postForm(form))).toEqual([400, 'invalid_request', 'GIF media must have at most 3670016 bytes']);
  });
});
