import { expect, test } from 'vitest';
import { FaultList } from '../../../../lib/http/fault-list.ts';
import type { HeaderInput, Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { neededAtSend, type ParametersView } from '../../../../lib/messages/request/needed-at-send.ts';
import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { checkHeaderInput, checkRecipients } from '../../../../lib/messages/request/recipient-rules.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { body, buttons, makeTemplate, sendable } from '../../../support/platform-templates.ts';

type Params = NonNullable<Recipient['params']>;
type Text = NonNullable<ParametersView['params']['body']>;
type Parts = Pick<ParametersView['params'], 'body' | 'buttons'>;

const shopping = { type: 'action', action: { thumbnailProductRetailerId: 'sku-1' } } as const;

/** Fills a text to its last character, plus `more` characters. */
function filled({ fixed_length, max_length, values }: Text, more: number): string[] {
  const [first, ...others] = values.map(({ appears }) => appears);
  const left = max_length - fixed_length - others.reduce((sum, appears) => sum + appears, 0);
  return ['x'.repeat(Math.floor(left / (first ?? 1)) + more), ...others.map(() => 'x')];
}

function partsOf(parts: Parts, more: number) {
  const { body: text, buttons: list } = parts;
  const values = list?.map((button) =>
    'x'.repeat(button.max_length - (button.kind === 'url' ? button.fixed_length : 0) + more),
  );
  return { ...(text && { body: filled(text, more) }), ...(values && { buttons: values }) };
}

/** Makes the longest parameters that the answer allows, with `more` characters in every value. */
function paramsOf({ params }: ParametersView, more = 0): Params {
  const { header, products, cards } = params;
  const sections = [
    { title: 'x'.repeat(Number(products?.['max_title_length'] ?? 0)), product_items: [{ product_retailer_id: '1' }] },
  ];
  return {
    ...(header && { header: filled(header, more) }),
    ...partsOf(params, more),
    ...(products && {
      products: [products['kind'] === 'single' ? shopping : { ...shopping, action: { ...shopping.action, sections } }],
    }),
    ...(cards && { cards: cards.map((card) => partsOf(card, more)) }),
  };
}

function headerOf({ component: { header } }: ParametersView): HeaderInput | undefined {
  if (header === undefined) return undefined;
  if (header.type !== 'location') return { type: header.type as 'image_url', value: 'https://cdn.example.com/a.jpg' };
  return { type: 'location', location: { latitude: '1', longitude: '1', name: 'Here', address: 'There' } };
}

function faultsOf(template: PlatformTemplate, params: Params, header: HeaderInput | undefined): number {
  const contract = parameterContract(template);
  const faults = new FaultList();
  checkHeaderInput(contract.header, header, faults);
  checkRecipients(contract, [{ to: '5491100000001', params }], faults);
  return faults.count;
}

test.each(Object.entries(sendable))(
  '%s: what is said to be needed is what a send takes, to the last character (D49)',
  (_, template) => {
    const { parameters, sendable: told } = neededAtSend(template);
    expect(told).toEqual({ can: true });
    if (parameters === undefined) throw new Error('nothing is said');
    const header = headerOf(parameters);
    expect(faultsOf(template, paramsOf(parameters), header)).toBe(0);
    expect(faultsOf(template, { ...paramsOf(parameters), ...extra(parameters) }, header)).toBeGreaterThan(0);
    const { header: text, body: whole, buttons: list, cards } = parameters.params;
    if (text ?? whole ?? list ?? cards) expect(faultsOf(template, paramsOf(parameters, 1), header)).toBeGreaterThan(0);
    if (header !== undefined) expect(faultsOf(template, paramsOf(parameters), undefined)).toBeGreaterThan(0);
  },
);

/** Gives one value more than needed. */
const extra = ({ params }: ParametersView): Params => ({
  body: [...Array((params.body?.count ?? 0) + 1)].map(() => 'x'),
});

test('examples are those that the platform was shown', () => {
  const template = makeTemplate([
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}} of today', example: { header_text: ['17'] } },
    { ...body('Hello {{1}}, {{2}} and again {{1}}.'), example: { body_text: [['Ana', '9']] } },
    buttons(
      { type: 'URL', text: 'Go', url: 'https://x.example/{{1}}', example: ['https://x.example/17'] },
      { type: 'URL', text: 'Look', url: 'https://x.example/{{1}}', example: ['18'] },
    ),
  ]);
  expect(neededAtSend(template).parameters).toEqual({
    params: {
      header: { count: 1, fixed_length: 15, max_length: 60, values: [{ appears: 1, example: '17' }] },
      body: {
        count: 2,
        fixed_length: 20,
        max_length: 1_024,
        values: [
          { appears: 2, example: 'Ana' },
          { appears: 1, example: '9' },
        ],
      },
      // A send gives only the variable part, although the platform saw a whole URL at creation.
      buttons: [
        { index: 0, kind: 'url', fixed_length: 18, max_length: 2_000, example: '17' },
        { index: 1, kind: 'url', fixed_length: 18, max_length: 2_000, example: '18' },
      ],
    },
    component: {},
  });
  const image = { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://cdn.example/a.jpg'] } };
  expect(neededAtSend(makeTemplate([image, body('Hi.')])).parameters).toEqual({
    params: {},
    component: { header: { type: 'image_url', example: 'https://cdn.example/a.jpg' } },
  });
});

test('what cannot be sent now says why, and still what it takes; what never can says only why', () => {
  const pending = neededAtSend({ ...sendable.order, status: 'PENDING' });
  expect(pending.sendable).toEqual({ can: false, reason: 'the template is not APPROVED: its status is PENDING' });
  expect(pending.parameters).toEqual(neededAtSend(sendable.order).parameters);
  const off = 'it is switched off';
  expect(neededAtSend(sendable.order, off).sendable).toEqual({ can: false, reason: 'it is switched off' });
  expect(neededAtSend({ ...sendable.order, status: 'PENDING' }, off).sendable).toEqual(pending.sendable);
  const named = neededAtSend({ ...sendable.order, parameter_format: 'NAMED' });
  expect(named).toEqual({ sendable: { can: false, reason: expect.stringContaining('named parameters') } });
  const direct = 'direct-message templates cannot be sent through this interface';
  expect(neededAtSend({ ...sendable.order, source: 'AUTO_GENERATED' })).toEqual({
    sendable: { can: false, reason: direct },
  });
});
