import { describe, expect, test } from 'vitest';
import type { MediaFormat } from '../../../../lib/templates/rules/header-formats.ts';
import { checkMedia, mediaLimits } from '../../../../lib/templates/rules/media.ts';

const bytes = (latin1: string) => Buffer.from(latin1, 'latin1');
const png = (depth: number, colour: number) =>
  bytes(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01${String.fromCharCode(depth, colour)}`);
const box = (brand: string) => bytes(`\0\0\0\x18ftyp${brand}\0\0\0\0`);
const jpeg = bytes('\xff\xd8\xff\xe0JFIF');
const pdf = bytes('%PDF-1.7');

describe('the type is told by the bytes', () => {
  test.each<[MediaFormat, string, Buffer, string]>([
    ['IMAGE', 'JPEG', jpeg, 'image/jpeg'],
    ['IMAGE', 'PNG in RGB', png(8, 2), 'image/png'],
    ['IMAGE', 'PNG in RGBA', png(8, 6), 'image/png'],
    ['IMAGE', 'PNG without header chunk', bytes('\x89PNG\r\n\x1a\n'), 'image/png'],
    ['VIDEO', 'MP4 isom', box('isom'), 'video/mp4'],
    ['VIDEO', 'MP4 mp42', box('mp42'), 'video/mp4'],
    ['VIDEO', 'MP4 M4V', box('M4V '), 'video/mp4'],
    ['VIDEO', '3GPP', box('3gp5'), 'video/3gpp'],
    ['GIF', 'MP4', box('isom'), 'video/mp4'],
    ['DOCUMENT', 'PDF', pdf, 'application/pdf'],
  ])('%s takes %s', (format, _, content, type) => {
    expect(checkMedia(format, { bytes: content })).toEqual({ type });
  });

  const image = 'IMAGE media must be image/jpeg or image/png';
  const video = 'VIDEO media must be video/mp4 or video/3gpp';
  test.each<[MediaFormat, string, Buffer, string]>([
    ['IMAGE', 'nothing', bytes(''), image],
    ['IMAGE', 'HTML', bytes('<html>'), image],
    ['IMAGE', 'GIF', bytes('GIF89a'), image],
    ['IMAGE', 'half a signature', bytes('\x89PNG\r\n'), image],
    ['IMAGE', 'PDF', pdf, `${image}, not application/pdf`],
    ['IMAGE', 'MP4', box('isom'), `${image}, not video/mp4`],
    ['IMAGE', 'HEIC', box('heic'), image],
    ['IMAGE', 'PNG with a palette', png(8, 3), 'PNG media must be 8-bit RGB or RGBA'],
    ['IMAGE', 'PNG in grey', png(8, 0), 'PNG media must be 8-bit RGB or RGBA'],
    ['IMAGE', 'PNG of 16 bits', png(16, 2), 'PNG media must be 8-bit RGB or RGBA'],
    ['VIDEO', 'QuickTime', box('qt  '), video],
    ['VIDEO', 'audio', box('M4A '), video],
    ['VIDEO', 'another box', bytes('\0\0\0\x18moovisom'), video],
    ['VIDEO', 'JPEG', jpeg, `${video}, not image/jpeg`],
    ['GIF', '3GPP', box('3gp4'), 'GIF media must be video/mp4, not video/3gpp'],
    ['GIF', 'GIF', bytes('GIF89a'), 'GIF media must be video/mp4'],
    ['DOCUMENT', 'Word', bytes('PK\x03\x04'), 'DOCUMENT media must be application/pdf'],
    ['DOCUMENT', 'JPEG', jpeg, 'DOCUMENT media must be application/pdf, not image/jpeg'],
  ])('%s does not take %s', (format, _, content, fault) => {
    expect(checkMedia(format, { bytes: content })).toEqual({ fault });
  });
});

describe('what was declared must be so', () => {
  test.each(['image/jpeg', 'image/jpg', 'application/octet-stream', 'binary/octet-stream'])(
    'JPEG as %s',
    (contentType) => {
      expect(checkMedia('IMAGE', { bytes: jpeg, contentType })).toEqual({ type: 'image/jpeg' });
    },
  );

  test.each(['image/png', 'text/plain', 'application/pdf'])('JPEG as %s is refused', (contentType) => {
    expect(checkMedia('IMAGE', { bytes: jpeg, contentType })).toEqual({
      fault: `the media is image/jpeg but was declared as ${contentType}`,
    });
  });
});

describe('sizes', () => {
  test.each<[MediaFormat, Buffer, number]>([
    ['IMAGE', jpeg, 5_242_880],
    ['VIDEO', box('isom'), 16_777_216],
    ['GIF', box('isom'), 3_670_016],
    ['DOCUMENT', pdf, 104_857_600],
  ])('%s', (format, head, maxBytes) => {
    const sized = (size: number) => {
      const whole = Buffer.alloc(size);
      head.copy(whole);
      return { bytes: whole };
    };
    expect(mediaLimits[format].maxBytes).toBe(maxBytes);
    expect(checkMedia(format, sized(maxBytes))).toHaveProperty('type');
    expect(checkMedia(format, sized(maxBytes + 1))).toEqual({
      fault: `${format} media must have at most ${maxBytes} bytes`,
    });
  });
});
