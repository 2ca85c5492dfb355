import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { urlSuffix } from '../../../../lib/messages/request/url-suffix.ts';

describe('the value of a URL button (D37)', () => {
  test.each([
    ['orders/A-1?x=1', 'orders/A-1?x=1'],
    ['a:b/c?d&e=f#g', 'a%3Ab/c?d&e=f#g'],
    ["-._~!$&'()*+,;=@", "-._~!$&'()*+,;=@"],
    ['%2F%2f%C3%B1', '%2F%2f%C3%B1'],
    ['a b', 'a%20b'],
    ['ñandú', '%C3%B1and%C3%BA'],
    ['🙂', '%F0%9F%99%82'],
    ['100%', '100%25'],
    ['%', '%25'],
    ['%2', '%252'],
    ['%zz', '%25zz'],
    ['%%20', '%25%20'],
    ['"<>[\\]^`{|}', '%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D'],
    ['a\tb\u0000', 'a%09b%00'],
    // Case folding would turn the Kelvin sign into a K.
    ['\u212a', '%E2%84%AA'],
    ['\ud800', '%EF%BF%BD'],
    ['', ''],
  ])('%j becomes %s', (value, suffix) => {
    expect(urlSuffix(value)).toBe(suffix);
  });

  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('%', '2', 'F', 'a', 'g', '/', '?', '#', '&', ' ', 'ñ', '[', '\\') }),
  );
  const base = fc.constantFrom(
    'https://shop.example.com/',
    'https://shop.example.com/orders/',
    'https://shop.example.com/?q=',
    'https://shop.example.com/#',
  );

  test('whatever is given, the URL is one, and has exactly the characters of one', () => {
    fc.assert(
      fc.property(base, value, (start, given) => {
        const suffix = urlSuffix(given);
        expect(suffix).toMatch(/^(?:[A-Za-z0-9\-._~/?#@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/);
        expect(URL.parse(start + suffix)?.host).toBe('shop.example.com');
      }),
    );
  });

  test('encoding twice is encoding once, and nothing that could stand is touched', () => {
    fc.assert(
      fc.property(value, (given) => {
        const once = urlSuffix(given);
        expect(urlSuffix(once)).toBe(once);
        const read = (text: string) =>
          text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
            Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1'),
          );
        const bytes = (text: string) => Buffer.from(text.toWellFormed()).toString('latin1');
        expect(read(once)).toBe(read(bytes(given)));
      }),
    );
  });
});
