import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRedirectCode, redirectCode } from '../../../lib/redirects/code.ts';

const button = { templateKey: 'abcdefghijklmnop', place: 'buttons[0]', url: 'https://example.com/a' };

test('known answer: messages that were sent carry these codes for ever', () => {
  expect(redirectCode(button)).toBe('2ehijpmt7t4pxmd2khpkyb5evz332ip4');
});

test.each([
  ['another template', { templateKey: 'bbcdefghijklmnop' }],
  ['another place', { place: 'cards[0].buttons[0]' }],
  ['another URL', { url: 'https://example.com/b' }],
])('%s has another code', (_, change) => {
  expect(redirectCode({ ...button, ...change })).not.toBe(redirectCode(button));
});

test('every code is one, and 32 characters that a URL takes as they are', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (place, url) => {
      const code = redirectCode({ ...button, place, url });
      expect(code).toMatch(/^[a-z2-7]{32}$/);
      expect(isRedirectCode(code)).toBe(true);
    }),
  );
});

const code = redirectCode(button);
test.each([
  ['nothing', ''],
  ['too short', code.slice(1)],
  ['too long', `${code}a`],
  ['in capitals', code.toUpperCase()],
  ['with a line break', `${code}\n`],
  ['one letter off', `${code.startsWith('a') ? 'b' : 'a'}${code.slice(1)}`],
  ['of the right letters only', 'a'.repeat(32)],
  ['a path', `../${code.slice(3)}`],
])('%s is no code', (_, text) => {
  expect(isRedirectCode(text)).toBe(false);
});
