import { expect, test } from 'vitest';
import type { Part } from '../../../../lib/http/json-part.ts';
import type { TemplateDraft } from '../../../../lib/templates/rules/draft.ts';
import { upstreamComponents } from '../../../../lib/templates/rules/upstream-components.ts';

function written(components: readonly Part[], draft: Partial<TemplateDraft> = {}): Part[] {
  return upstreamComponents({ category: 'MARKETING', fileAttached: false, ...draft, components });
}

test('enums in upper case, components in the order the platform likes', () => {
  const header = { type: 'header', format: 'text', text: 'News' };
  const buttons = { type: 'buttons', buttons: [{ type: 'quick_reply', text: 'Yes' }] };
  expect(written([buttons, { type: 'body', text: 'Hello there.' }, header])).toEqual([
    { type: 'HEADER', format: 'TEXT', text: 'News' },
    { type: 'BODY', text: 'Hello there.' },
    { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Yes' }] },
  ]);
});

test('a handle goes where the platform reads it, in cards too', () => {
  const header = { type: 'HEADER', format: 'image', header_handle: '4::x' };
  const expected = { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::x'] } };
  const carousel = { type: 'CAROUSEL', cards: [{ components: [header] }] };
  expect(written([header, carousel])).toEqual([expected, { type: 'CAROUSEL', cards: [{ components: [expected] }] }]);
  expect(written([expected])).toEqual([expected]);
});

test('examples of a body become a list of one list', () => {
  const body = { type: 'BODY', text: 'Hello {{1}} there.' };
  const expected = [{ ...body, example: { body_text: [['Ana']] } }];
  expect(written([{ ...body, example: { body_text: ['Ana'] } }])).toEqual(expected);
  expect(written(expected)).toEqual(expected);
});

test('the example of a URL becomes a list of one', () => {
  const button = { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}' };
  const listed = [{ type: 'BUTTONS', buttons: [{ ...button, example: ['x'] }] }];
  expect(written([{ type: 'BUTTONS', buttons: [{ ...button, example: 'x' }] }])).toEqual(listed);
  expect(written(listed)).toEqual(listed);
});

const otp = { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'copy_code' }] };
const otpWritten = { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] };

test.each<[string, readonly Part[], Partial<TemplateDraft>, Part, number]>([
  ['10 minutes unless told', [{ type: 'BODY' }], {}, { type: 'BODY' }, 10],
  ['30 seconds are rounded up', [{ type: 'BODY' }], { codeExpirationMinutes: 0.5 }, { type: 'BODY' }, 1],
  ['rounded up, not to the nearest', [{ type: 'BODY' }], { codeExpirationMinutes: 10.1 }, { type: 'BODY' }, 11],
  ['as the footer says', [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 4.5 }], {}, { type: 'BODY' }, 5],
  ['a footer that says nothing', [{ type: 'BODY' }, { type: 'FOOTER' }], {}, { type: 'BODY' }, 10],
  [
    'the advice moves into the body',
    [{ type: 'BODY' }],
    { addSecurityRecommendation: true },
    { type: 'BODY', add_security_recommendation: true },
    10,
  ],
  [
    'advice in the body stays',
    [{ type: 'BODY', add_security_recommendation: true }],
    {},
    { type: 'BODY', add_security_recommendation: true },
    10,
  ],
])('AUTHENTICATION: %s', (_, components, draft, body, minutes) => {
  expect(written([otp, ...components], { category: 'AUTHENTICATION', ...draft })).toEqual([
    body,
    { type: 'FOOTER', code_expiration_minutes: minutes },
    otpWritten,
  ]);
});
