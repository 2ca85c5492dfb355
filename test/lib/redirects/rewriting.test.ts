import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redirectCode } from '../../../lib/redirects/code.ts';
import { redirectCodeOf, withRedirects } from '../../../lib/redirects/rewriting.ts';
import { anyText } from '../../support/any-text.ts';
import { refused } from '../../support/refused.ts';
import { thorough } from '../../support/thorough.ts';

const baseUrl = 'https://go.example.com/r';
const templateKey = 'abcdefghijklmnop';
const target = 'https://shop.example.com/sale?a=1&b=2#top';
const body = { type: 'BODY', text: 'Hello there, good news.' };
const link = (url = target) => ({ type: 'URL', text: 'Open', url });
const buttons = (...list: readonly unknown[]) => ({ type: 'BUTTONS', buttons: list });
const carousel = (...cards: readonly unknown[][]) => ({
  type: 'CAROUSEL',
  cards: cards.map((list) => ({ components: [{ type: 'HEADER', format: 'IMAGE' }, body, buttons(...list)] })),
});
const codeAt = (place: string, url = target) => redirectCode({ templateKey, place, url });
const redirectTo = (code: string) => ({ ...link(`${baseUrl}/{{1}}`), example: [`${baseUrl}/${code}`] });
const rewritten = (...components: readonly unknown[]) => withRedirects(components, { baseUrl, templateKey });

test('a static URL button becomes a redirect, and nothing else changes', () => {
  const code = codeAt('buttons[1]');
  expect(rewritten(body, buttons({ type: 'QUICK_REPLY', text: 'Yes' }, link()))).toEqual({
    components: [body, buttons({ type: 'QUICK_REPLY', text: 'Yes' }, redirectTo(code))],
    redirects: [{ code, url: target }],
  });
});

test('in cards too, each button with a code of its own though the URL is the same', () => {
  const [first, second] = [codeAt('cards[0].buttons[0]'), codeAt('cards[1].buttons[0]')];
  expect(rewritten(carousel([link()], [link()]))).toEqual({
    components: [carousel([redirectTo(first)], [redirectTo(second)])],
    redirects: [
      { code: first, url: target },
      { code: second, url: target },
    ],
  });
  expect(first).not.toBe(second);
});

test('types may be spelled in any case, and the order of components means nothing', () => {
  const written = { type: 'buttons', buttons: [{ ...link(), type: 'url' }] };
  expect(rewritten(written, body).redirects).toEqual(rewritten(body, buttons(link())).redirects);
});

test.each([
  ['a dynamic URL button', { ...link(`${target}/{{1}}`), example: ['x'] }],
  ['a redirect of before', redirectTo(codeAt('buttons[0]'))],
  ['a phone number', { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+541155550001' }],
  ['a coupon', { type: 'COPY_CODE', example: 'SALE' }],
  ['a one-time password', { type: 'OTP', otp_type: 'COPY_CODE' }],
])('%s stays as it is', (_, button) => {
  expect(rewritten(buttons(button))).toEqual({ components: [buttons(button)], redirects: [] });
});

describe('where it leads', () => {
  test.each([
    [
      'a name and a path in Unicode',
      'https://münchen.example/größe?q=ü',
      'https://xn--mnchen-3ya.example/gr%C3%B6%C3%9Fe?q=%C3%BC',
    ],
    [
      'line breaks that would end a header',
      'https://a.example/x\r\nset-cookie: a=b',
      'https://a.example/xset-cookie:%20a=b',
    ],
    ['spaces and quotes', 'https://a.example/a b"<>', 'https://a.example/a%20b%22%3C%3E'],
    ['no path', 'https://a.example', 'https://a.example/'],
  ])('%s', (_, given, url) => {
    expect(rewritten(buttons(link(given))).redirects).toEqual([{ code: codeAt('buttons[0]', url), url }]);
  });

  test('is visible ASCII whatever was given', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 200 }), (text) => {
        const given = `https://a.example/${text.replaceAll(/[{}]/g, '')}`;
        for (const { url } of rewritten(buttons(link(given))).redirects) expect(url).toMatch(/^[\x21-\x7e]+$/);
      }),
      { numRuns: thorough ? 100 : 20 },
    );
  });

  test('what would not fit into a header is refused', () => {
    const refusal = refused(() => rewritten(buttons(link(`https://a.example/${'ñ'.repeat(1_980)}`))));
    expect(refusal).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('8000 encoded') });
  });
});

describe('recognised by its example, as the platform shows it', () => {
  const code = codeAt('buttons[0]');
  test.each<[string, Parameters<typeof redirectCodeOf>[0], string | undefined]>([
    ['the whole URL', redirectTo(code), code],
    ['the value alone', { ...redirectTo(code), example: [code] }, code],
    ['not in a list', { ...redirectTo(code), example: code }, code],
    ['another base than today', { url: 'https://old.example/{{1}}', example: [`https://old.example/${code}`] }, code],
    ['somebody else’s example', { ...redirectTo(code), example: [`${baseUrl}/A-1001`] }, undefined],
    ['a code below another address', { ...redirectTo(code), example: [`https://b.example/${code}`] }, undefined],
    ['no example', { url: `${baseUrl}/{{1}}` }, undefined],
    ['a static URL that ends in a code', { url: `${baseUrl}/${code}`, example: [code] }, undefined],
    ['no URL', { example: [code] }, undefined],
  ])('%s', (_, button, expected) => {
    expect(redirectCodeOf(button)).toBe(expected);
  });
});

test('rewriting twice changes nothing more, and what it made is recognised', () => {
  const anyButton = fc.oneof(
    fc.webUrl().map((url) => link(url)),
    fc.webUrl().map((url) => ({ ...link(`${url}/{{1}}`), example: ['x'] })),
    fc.constant({ type: 'QUICK_REPLY', text: 'Yes' }),
  );
  fc.assert(
    fc.property(
      fc.array(anyButton, { maxLength: 3 }),
      fc.array(fc.array(anyButton, { maxLength: 2 })),
      (list, cards) => {
        const once = rewritten(body, buttons(...list), carousel(...cards));
        expect(withRedirects(once.components, { baseUrl, templateKey })).toEqual({ ...once, redirects: [] });
        const shown = JSON.stringify(once.components);
        for (const { code } of once.redirects) {
          expect(shown).toContain(code);
          expect(redirectCodeOf(redirectTo(code))).toBe(code);
        }
        const statics = [...list, ...cards.flat()].filter((each) => 'url' in each && !each.url.endsWith('{{1}}'));
        expect(once.redirects.length).toBe(statics.length);
      },
    ),
  );
});
