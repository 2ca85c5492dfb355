import { expect, test } from 'vitest';
import { headersOf, withHeaders } from '../../../../lib/templates/rules/headers.ts';

const header = { type: 'header', format: 'IMAGE' };
const body = { type: 'BODY', text: 'x' };
const components = [
  header,
  { type: 'CAROUSEL', cards: [{ components: [body, header] }, 'x', { components: 7 }, { components: [header, null] }] },
  null,
];

test('finds every header, those of cards with the number of the card', () => {
  expect(headersOf(components, 'components')).toEqual([
    { header, path: 'components[0]' },
    { header, path: 'components[1].cards[0].components[1]', card: 0 },
    { header, path: 'components[1].cards[3].components[0]', card: 3 },
  ]);
});

test('replaces headers and nothing else', () => {
  const replaced = withHeaders(components, 'c', ({ path }) => ({ path }));
  expect(replaced).toEqual([
    { path: 'c[0]' },
    {
      type: 'CAROUSEL',
      cards: [
        { components: [body, { path: 'c[1].cards[0].components[1]' }] },
        'x',
        { components: 7 },
        { components: [{ path: 'c[1].cards[3].components[0]' }, null] },
      ],
    },
    null,
  ]);
});
