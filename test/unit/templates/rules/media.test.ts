import { expect, test } from 'vitest';
import { mediaFault, mediaMaxBytes } from '../../../../lib/templates/rules/media.ts';

test.each<[string, string | undefined, number, string | undefined]>([
  ['IMAGE', 'image/png', 5_242_880, undefined],
  ['IMAGE', 'image/png', 5_242_881, 'a file for IMAGE has at most 5242880 bytes'],
  ['IMAGE', 'image/gif', 1, 'a file for IMAGE must be image/jpeg or image/png, received image/gif'],
  ['IMAGE', undefined, 1, 'a file for IMAGE must be image/jpeg or image/png, received no type'],
  ['IMAGE', 'image/jpeg', 0, 'the file is empty'],
  ['VIDEO', 'video/3gpp', 16_777_216, undefined],
  ['DOCUMENT', 'application/pdf', 104_857_600, undefined],
  ['DOCUMENT', 'text/plain', 1, 'a file for DOCUMENT must be application/pdf, received text/plain'],
  ['GIF', 'video/mp4', 3_670_017, 'a file for GIF has at most 3670016 bytes'],
])('%s with %s of %i bytes', (format, contentType, byteLength, fault) => {
  expect(mediaFault(format, { byteLength, ...(contentType === undefined ? {} : { contentType }) })).toBe(fault);
});

test('nothing is fetched for what is no media', () => {
  expect(mediaMaxBytes('TEXT')).toBe(0);
});
