import httpMultipartBodyParser from '@middy/http-multipart-body-parser';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMultipart } from '../../../lib/http/multipart.ts';
import { type FormPart, formBody, formEvent } from '../../support/multipart.ts';

// Two parsers that were written apart: whatever ours takes from a well-formed form, middy's must take as well. What ours
// refuses and middy's lets through is in multipart.test.ts.

interface Attachment {
  readonly filename: string;
  readonly mimetype: string;
  readonly content: Buffer;
}

async function readByMiddy(body: Buffer, boundary: string): Promise<Record<string, string | Attachment>> {
  const event = formEvent(body, `multipart/form-data; boundary=${boundary}`);
  await httpMultipartBodyParser().before?.({ event } as never);
  return event.body as Record<string, string | Attachment>;
}

const boundary = fc.stringMatching(/^[A-Za-z0-9-]{1,70}$/);
const fileName = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}\.(png|jpg|mp4|pdf)$/);
const fileType = fc.constantFrom('image/png', 'image/jpeg', 'video/mp4', 'application/pdf');
/** Bytes of every kind, with many of those that framing is made of. */
const bytes = fc
  .array(fc.oneof(fc.constantFrom(...'\r\n-b'), fc.integer({ min: 0, max: 255 })), { maxLength: 400 })
  .map((list) => Buffer.from(list.map((each) => (typeof each === 'string' ? each.charCodeAt(0) : each))));

test('middy reads what we read', async () => {
  const form = fc.record({
    boundary,
    template: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 }),
    name: fileName,
    type: fileType,
    content: bytes,
    fileFirst: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(form, async ({ boundary, template, name, type, content, fileFirst }) => {
      fc.pre(!content.includes(`--${boundary}`));
      const parts: FormPart[] = [
        { headers: ['Content-Disposition: form-data; name="template"'], content: JSON.stringify(template) },
        {
          headers: [`Content-Disposition: form-data; name="file"; filename="${name}"`, `Content-Type: ${type}`],
          content,
        },
      ];
      const body = formBody(fileFirst ? parts.toReversed() : parts, boundary);

      const ours = readMultipart(formEvent(body, `multipart/form-data; boundary=${boundary}`));
      const theirs = await readByMiddy(body, boundary);

      expect(ours.template).toEqual(JSON.parse(theirs['template'] as string));
      const { filename, mimetype, content: read } = theirs['file'] as Attachment;
      expect(ours.file).toEqual({ name: filename, contentType: mimetype, bytes: read });
      expect(ours.file?.bytes).toEqual(content);
    }),
    { numRuns: 500 },
  );
});
