import { afterEach, describe, expect, test } from 'vitest';
import { api, platform, synchronize, tokenOf } from '../support/api.ts';
import {
  createdTemplate,
  edit,
  listedTemplate,
  plainBody,
  reviewAll,
  said,
  templateProbes,
} from '../support/template-probes.ts';

const probes = templateProbes();
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

const changed = [200, { success: true, changed: true }];
const body = (text: string) => ({ type: 'BODY', text });
const footer = { type: 'FOOTER', text: 'Andes Retail' };

/** A template of its own that the platform has approved, rejected or not yet seen, stored as the platform shows it. */
async function template(word: 'REVIEW_NOW' | 'REVIEW_NOW REJECT_SCAM' | 'REVIEW_NEVER', changes = {}) {
  const components = [body(`Your order ${word} is ready.`), footer];
  const created = await createdTemplate(probes.draft({ components, ...changes }));
  await synchronize('supervisor1001');
  return { ...created, components };
}
const editsOf = async ({ platformId }: { platformId: string }) =>
  (await platform(`GET /_control/requests?method=POST&path=/${platformId}&limit=0`)).body.total;

/** Refused, with the platform not asked and the template as it was. */
async function expectRefused(
  what: Awaited<ReturnType<typeof template>>,
  request: unknown,
  message: string,
  at: string[],
) {
  const before = await listedTemplate(1001, what.name);
  const reply = await edit(what.id, request);
  expect([reply.status, reply.body.code, reply.body.message]).toEqual([400, 'invalid_request', message]);
  expect(reply.body.errors.map(({ path }: { path: string }) => path)).toEqual(at);
  expect(await editsOf(what)).toBe(0);
  expect(await listedTemplate(1001, what.name)).toEqual(before);
}

describe('refusals of our own', () => {
  test.each([
    [
      'another category of an APPROVED one',
      { category: 'MARKETING', components: [plainBody] },
      'the category of an APPROVED template cannot be changed',
      ['category'],
    ],
    ['no components', {}, 'components is required', ['components']],
    [
      'components that are none',
      { components: 'BODY' },
      'components is invalid: expected Array, received "BODY"',
      ['components'],
    ],
    ['no BODY', { components: [] }, 'components: a BODY component is required', ['components']],
    [
      'a wrong category',
      { category: 'SERVICE', components: [plainBody] },
      'category is invalid: expected ("MARKETING" | "UTILITY" | "AUTHENTICATION"), received "SERVICE"',
      ['category'],
    ],
    [
      'every fault at once',
      { components: [{ ...footer, text: 'x'.repeat(61) }, body('{{1}} {{3}}')] },
      'components[1].text: variables must be numbered from {{1}} without a gap, {{2}} is missing',
      [
        'components[1].text',
        'components[1].text',
        'components[1].text',
        'components[1].text',
        'components[1].example.body_text',
        'components[0].text',
      ],
    ],
    [
      'a component that UTILITY has not',
      { components: [plainBody, { type: 'CAROUSEL', cards: [] }] },
      'components[1].type: one of HEADER, BODY, FOOTER, BUTTONS in UTILITY, received "CAROUSEL"',
      ['components[1].type'],
    ],
    [
      'allow_button_url_change as text',
      { components: [plainBody], allow_button_url_change: 'true' },
      'allow_button_url_change is invalid: expected boolean, received "true"',
      ['allow_button_url_change'],
    ],
    [
      'a misspelt field',
      { components: [plainBody], Category: 'MARKETING' },
      'unrecognized field: Category; did you mean category?',
      ['Category'],
    ],
    [
      'a forbidden key within what is passed on',
      { components: [plainBody], optimization_spec: JSON.parse('{"bid_amount":1,"a":[{"__proto__":{}}]}') },
      'forbidden key: __proto__',
      ['optimization_spec'],
    ],
  ])('%s', async (_, request, message, at) => {
    await expectRefused(await template('REVIEW_NOW'), request, message, at);
  });

  test.each(['{', 'null', '[]', ''])('a body of %j', async (text) => {
    expect(await edit('x', text)).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
  });

  test('a template that is not there: 404, also one of another WABA', async () => {
    const { id } = await template('REVIEW_NOW');
    const { data } = (
      await api('GET /v1/templates?client_id=1002&name=appointment_reminder', { token: await tokenOf('operator') })
    ).body;
    for (const unknown of [
      'x',
      `${id}9`,
      id.toUpperCase(),
      'aaaaaaaaaaaaaaaa-rt-0',
      data[0]?.id ?? 'y',
      'x'.repeat(3_000),
    ]) {
      const reply = await edit(unknown, { components: [plainBody] });
      expect(said(reply)).toEqual([404, { code: 'template_not_found', message: 'template not found' }]);
    }
  });
});

describe('refusals of the platform: 400 in its words, and the template stays as it is (D20)', () => {
  const refused = (message: string) => [400, { code: 'platform_refused', message, platform_code: 100 }];

  test.each(['PENDING', 'DISABLED'] as const)('%s cannot be edited', async (status) => {
    const what = await template('REVIEW_NEVER');
    await platform(`POST /_control/templates/${what.platformId}`, { status });
    await reviewAll();
    const before = await listedTemplate(1001, what.name);
    expect(before).toMatchObject({ platform_template: { status } });
    expect(said(await edit(what.id, { components: [plainBody] }))).toEqual(
      refused(`A template that is ${status} can't be edited`),
    );
    expect(await listedTemplate(1001, what.name)).toEqual(before);
  });

  test('an approved one is edited once in 24 hours; the next day again', async () => {
    const { id, name } = await template('REVIEW_NOW');
    expect(said(await edit(id, { components: [body('REVIEW_NOW one')] }))).toEqual(changed);
    await reviewAll();
    const before = await listedTemplate(1001, name);
    const second = { components: [body('REVIEW_NOW two')] };
    expect(said(await edit(id, second))).toEqual(refused('An approved template can be edited once in 24 hours'));
    expect(await listedTemplate(1001, name)).toEqual(before);
    await platform('POST /_control/clock', { advance_seconds: 86_400 });
    expect(said(await edit(id, second))).toEqual(changed);
  });

  test.each([
    ['is down', { drop: 'before' }, 502, 'platform_unreachable', null],
    ['answers 500', { status: 500 }, 502, 'platform_unreachable', null],
    ['refuses our credential', { code: 190 }, 502, 'platform_unreachable', null],
    ['limits the rate', { code: 80_008 }, 429, 'platform_rate_limited', '60'],
  ])('the platform %s: nothing has changed here', async (_, action, status, code, retryAfter) => {
    const { id, name, platformId } = await template('REVIEW_NOW');
    const before = await listedTemplate(1001, name);
    await platform('POST /_control/faults', { match: { path: platformId }, action });
    const reply = await edit(id, { components: [plainBody] });
    expect([reply.status, reply.body.code, reply.headers.get('retry-after')]).toEqual([status, code, retryAfter]);
    expect(await listedTemplate(1001, name)).toEqual(before);
  });
});
