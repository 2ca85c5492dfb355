import { describe, expect, test } from 'vitest';
import { undocumented } from '../../../support/openapi.ts';
import { both, type Given, verdictsOn } from '../../../support/rule-verdicts.ts';

/**
 * One table holds the verdicts of the service and the simulator (platform reference, 3.6). A difference means that the
 * service refuses valid templates, or that clients get the platform's errors instead of its own.
 */

/** The interface document must accept what the service accepts. */
function expectAgreed(components: readonly Given[], taken: boolean): void {
  expect(verdictsOn('MARKETING', components)).toEqual(both(taken));
  if (taken) expect(undocumented('MARKETING', components)).toEqual([]);
}

const flow = (more: object) => ({ type: 'FLOW', text: 'Go', flow_id: '1', ...more });
const textHeader = { type: 'HEADER', format: 'TEXT', text: 'Picks' };
const product = { type: 'HEADER', format: 'PRODUCT' };

describe('service and simulator agree on a button', () => {
  test.each<[boolean, Given, Given?]>([
    [true, { type: 'QUICK_REPLY', text: 'Yes' }],
    [false, { type: 'QUICK_REPLY', text: 'Y'.repeat(26) }],
    [false, { type: 'QUICK_REPLY', text: 'Yes', url: 'https://a.example.com' }],
    [true, { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}', example: ['x'] }],
    [true, { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}', example: 'x' }],
    [false, { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}', example: ' ' }],
    [false, { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}', example: [' '] }],
    [false, { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}', example: ['x', 'y'] }],
    [false, { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}', example: [] }],
    [false, { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}' }],
    [false, { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}/x', example: ['x'] }],
    [true, { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5491100000001' }],
    [true, { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+1 (650) 555-1234' }],
    [false, { type: 'PHONE_NUMBER', text: 'Call', phone_number: '1-800-CALL' }],
    [false, { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+54911000000011234567' }],
    [true, { type: 'COPY_CODE', example: 'SAVE20' }],
    [false, { type: 'COPY_CODE', example: 'SAVE 20' }],
    [true, { type: 'VOICE_CALL', text: 'Call us' }],
    [false, { type: 'VOICE_CALL' }],
    [false, { type: 'VOICE_CALL', text: 'Call us', ttl_minutes: 60 }],
    [true, flow({})],
    [true, flow({ flow_action: 'data_exchange', icon: 'REVIEW' })],
    [true, flow({ flow_action: 'NAVIGATE', navigate_screen: 'START' })],
    [false, flow({ flow_action: 'jump' })],
    [false, flow({ icon: 'STAR' })],
    [false, flow({ flow_name: 'two' })],
    [true, { type: 'CATALOG', text: 'View catalog' }],
    [false, { type: 'CATALOG', text: 'See all' }],
    [false, { type: 'CATALOG' }],
    [false, { type: 'CATALOG', text: 'View catalog' }, textHeader],
    [true, { type: 'MPM', text: 'View items' }, textHeader],
    [false, { type: 'MPM', text: 'View' }, textHeader],
    [false, { type: 'MPM', text: 'View items' }],
    [true, { type: 'SPM', text: 'View' }, product],
    [false, { type: 'SPM', text: 'View items' }, product],
    [false, { type: 'SPM', text: 'View' }],
    [false, { type: 'APP', text: 'Open' }],
  ])('%s: %j', (taken, button, header) => {
    const body = { type: 'BODY', text: 'Hello there, good news.' };
    const components = [...(header === undefined ? [] : [header]), body, { type: 'BUTTONS', buttons: [button] }];
    expectAgreed(components, taken);
  });
});

describe('service and simulator agree on a text', () => {
  const body = (text: string, example?: object) => [{ type: 'BODY', text, example }];
  const titled = (text: string) => [{ type: 'HEADER', format: 'TEXT', text }, ...body('Hello there.')];
  test.each<[boolean, string, readonly Given[]]>([
    [true, 'signs and families', body(`a${'👨‍👩‍👧‍👦'.repeat(10)}®b`)],
    [false, 'flags', body(`a${'🇦🇷'.repeat(11)}b`)],
    [false, 'blank lines', body('a\n \n \nb')],
    [false, 'blanks in a variable', body('a {{ 1 }} b', { body_text: [['x']] })],
    [false, 'an example without a variable', body('a b', { body_text: [['x']] })],
    [false, 'two lists of examples', body('a {{1}} b', { body_text: [['x'], ['y']] })],
    [true, 'an underscore in a header', titled('order_update')],
    [false, 'italics in a header', titled('an _old_ one')],
    [true, 'a sign in a header', titled('Acme™')],
    [false, 'a keycap in a header', titled('Top 1️⃣')],
    [false, 'closing braces in a footer', [...body('Hello there.'), { type: 'FOOTER', text: 'a }} b' }]],
  ])('%s: %s', (taken, _, components) => {
    expectAgreed(components, taken);
  });
});
