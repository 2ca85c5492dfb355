import { expect, test } from 'vitest';
import { platformTemplateView, requestedFields, templateView } from '../../../../lib/templates/listing/view.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { makeTemplate } from '../../../support/templates.ts';

const plain = {
  id: '1627019861106475',
  name: 'order_update',
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Your order {{1}} is on its way.', example: { body_text: [['7']] } }],
};

test('a template without anything to omit', () => {
  expect(platformTemplateView(makeTemplate())).toEqual(plain);
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['empty example', { example: {} }, {}],
  ['example', { example: { body_text: ['7'] } }, { example: { body_text: ['7'] } }],
  ['null format', { format: null }, {}],
  ['format', { format: 'TEXT' }, { format: 'TEXT' }],
  ['null text', { text: null }, {}],
  ['empty text is not null', { text: '' }, { text: '' }],
  ['null buttons', { buttons: null }, {}],
  ['empty buttons are not null', { buttons: [] }, { buttons: [] }],
  ['empty previous category', { previous_category: '' }, {}],
  ['previous category', { previous_category: 'UTILITY' }, { previous_category: 'UTILITY' }],
  ['empty rejected reason', { rejected_reason: '' }, {}],
  ['the word for no rejected reason', { rejected_reason: 'NONE' }, {}],
  ['rejected reason', { rejected_reason: 'SCAM' }, { rejected_reason: 'SCAM' }],
  ['empty quality score', { quality_score: {} }, {}],
  ['empty score', { quality_score: { score: '' } }, {}],
  ['score with date', { quality_score: { score: 'GREEN', date: 1 } }, { quality_score: { score: 'GREEN' } }],
  [
    'fields that the contract does not know',
    { optimization_spec: { bid_amount: 1 }, parameter_format: 'POSITIONAL' },
    {},
  ],
])('platform_template: %s', (_, given, shown) => {
  expect(platformTemplateView(makeTemplate(given as Partial<PlatformTemplate>))).toEqual({ ...plain, ...shown });
});

test('the omission rule holds in components and in the components of cards', () => {
  const given = [
    { type: 'HEADER', format: null, text: null, example: {}, buttons: null },
    { type: 'CAROUSEL', cards: [{ components: [{ type: 'BODY', text: 'a', example: {}, format: null }] }] },
  ] as PlatformTemplate['components'];
  expect(platformTemplateView(makeTemplate({ components: given }))['components']).toEqual([
    { type: 'HEADER' },
    { type: 'CAROUSEL', cards: [{ components: [{ type: 'BODY', text: 'a' }] }] },
  ]);
});

const everything = ['id', 'waba_id', 'client_id', 'active', 'namespace', 'platform_template', 'channel_campaigns'];

test.each<[string, string[] | undefined, string[]]>([
  ['absent', undefined, everything],
  ['known', ['active', 'id'], ['id', 'active']],
  ['unknown are discarded', ['id', 'createdBy', '__proto__'], ['id']],
  ['nothing left', ['createdBy'], everything],
])('fields: %s', (_, asked, shown) => {
  const view = {
    id: 'a',
    waba_id: '1',
    client_id: 1,
    active: true,
    namespace: '',
    channel_campaigns: [],
    platform_template: undefined,
  };
  expect(Object.keys(templateView(view, requestedFields(asked)))).toEqual(shown);
});
