import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMultipart } from '../../../lib/http/multipart.ts';
import { type FormPart, formBody, formEvent } from '../../support/multipart.ts';

// The writer and the parser are separate implementations: the parser must return every form that the writer accepts,
// unchanged.

const boundary = fc.stringMatching(/^[\w'()+,\-./:=?]{1,70}$/);
const fileName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((name) => name === name.toWellFormed() && !/[\p{Cc}/\\]|^\.{1,2}$/u.test(name));
const fileType = fc.constantFrom('image/png', 'image/jpeg', 'video/mp4', 'application/pdf');
/** Many of the bytes are those that form boundaries. */
const bytes = fc
  .array(fc.oneof(fc.constantFrom(...'\r\n-b'), fc.integer({ min: 0, max: 255 })), { maxLength: 400 })
  .map((list) => Buffer.from(list.map((each) => (typeof each === 'string' ? each.charCodeAt(0) : each))));

test('what a client puts into a form is what we read, byte by byte', async () => {
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
      const json = JSON.stringify(template);
      fc.pre(!content.includes(`--${boundary}`) && !json.includes(`--${boundary}`));
      const quotedName = name.replaceAll('"', '\\"');
      const parts: FormPart[] = [
        { headers: ['Content-Disposition: form-data; name="template"'], content: json },
        {
          headers: [`Content-Disposition: form-data; name="file"; filename="${quotedName}"`, `Content-Type: ${type}`],
          content,
        },
      ];
      const body = formBody(fileFirst ? parts.toReversed() : parts, boundary);

      const read = await readMultipart(formEvent(body, `multipart/form-data; boundary="${boundary}"`));

      expect(read.template).toEqual(JSON.parse(json));
      expect(read.file).toEqual({ name, contentType: type, bytes: content });
    }),
    { numRuns: 500 },
  );
});
