import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Block, blocksOf, plainOf, type Span, spansOf, wordsOf } from '../console/formatting.ts';
import { shownOf } from '../console/read-more.ts';
import { timeLeft } from '../console/texts.ts';

/* The console's phone formats the text of a message (platform reference, 4.6). Its texts come from strangers. */

/** Writes a tree in one line: `<bold a>`, `<link a.com https://a.com/>`. */
const told = (spans: readonly Span[]): string =>
  spans
    .map((span) => {
      if (typeof span === 'string') return span;
      if (span.kind === 'link') return `<link ${[span.text, span.href].filter(Boolean).join(' ')}>`;
      return `<${span.kind} ${told(span.spans)}>`;
    })
    .join('');

const spansIn = (block: Block) => (block.kind === 'line' || block.kind === 'quote' ? [block.spans] : block.items);
const wordsIn = (blocks: readonly Block[]) => blocks.flatMap(spansIn).map(wordsOf).join('');

describe('marks', () => {
  test.each([
    ['*a* _b_ ~c~ `d`', '<bold a> <italic b> <struck c> <code d>'],
    ['```a *b*```', '<mono a *b*>'],
    ['*a _b_ c*', '<bold a <italic b> c>'],
    ['*_~a~_*', '<bold <italic <struck a>>>'],
    ['(*a*), *b*.', '(<bold a>), <bold b>.'],
    ['2 * 3 * 4 snake_case_name snake__case__ *not', '2 * 3 * 4 snake_case_name snake__case__ *not'],
    ['* a* *b *', '* a* *b *'],
    ['**a**', '*<bold a>*'],
    ['*a _b* c_', '<bold a _b> c_'],
    ['*a b *c*', '<bold a b *c>'],
    ['** __ ~~ `` ``````', '** __ ~~ `` ``````'],
    ['`a *b* `c', '<code a *b* >c'],
    ['año*s* *ñ*o', 'año*s* *ñ*o'],
    ['<b>*x*</b>', '<b><bold x></b>'],
    ['*👩‍👩‍👧*', '<bold 👩‍👩‍👧>'],
  ])('%s', (text, expected) => {
    expect(told(spansOf(text))).toBe(expected);
  });
});

describe('links', () => {
  test.each([
    ['https://a.example.com/x_y_z?q=1.', '<link https://a.example.com/x_y_z?q=1 https://a.example.com/x_y_z?q=1>.'],
    ['(see andes.example.com/a)', '(see <link andes.example.com/a https://andes.example.com/a>)'],
    ['*HTTP://A.com*', '<bold <link HTTP://A.com http://a.com/>>'],
    ['https://a.com/x_(y)', '<link https://a.com/x_(y) https://a.com/x_(y)>'],
    ['www.shop.museum, shop.museum', '<link www.shop.museum https://www.shop.museum/>, shop.museum'],
    ['write to ana.lopez+x@a.com', 'write to <link ana.lopez+x@a.com>'],
    ['`https://a.com`', '<code https://a.com>'],
    ['Listo.Es hora. e.g. file.ts v1.2.3', 'Listo.Es hora. e.g. file.ts v1.2.3'],
    ['javascript:alert(1) data:text/html,a ftp://a.x', 'javascript:alert(1) data:text/html,a ftp://a.x'],
    ['https:// http://" https://<b>', 'https:// http://" https://<b>'],
    ['+54 9 11 0000-0001.', '<link +54 9 11 0000-0001>.'],
    ['(011) 4000-0000', '<link (011) 4000-0000>'],
    ['5491155550001', '<link 5491155550001>'],
    ['on 2026-11-20, 20-11-2026, 10:00-12:00', 'on 2026-11-20, 20-11-2026, 10:00-12:00'],
    ['$12345678 1234567.50 A-1042 482913', '$12345678 1234567.50 A-1042 482913'],
    ['4111 1111 1111 1111', '4111 1111 1111 1111'],
  ])('%s', (text, expected) => {
    expect(told(spansOf(text))).toBe(expected);
  });
});

describe('lines', () => {
  const lines = (text: string) =>
    blocksOf(text).map((block) =>
      [block.kind, ...('first' in block ? [block.first] : []), ...spansIn(block).map(told)].join('|'),
    );

  test.each<[string, readonly string[]]>([
    ['- a\n* *b*\nc', ['bullets|a|<bold b>', 'line|c']],
    ['3. a\n4. b\n\n1. c', ['numbers|3|a|b', 'line|', 'numbers|1|c']],
    ['> _a_\n> b', ['quote|<italic a>', 'quote|b']],
    ['-a\n*a*\n1.a\n1234. a\n>\n- ', ['line|-a', 'line|<bold a>', 'line|1.a', 'line|1234. a', 'line|>', 'line|- ']],
    ['a ```b\n- c```\n- d', ['line|a <mono b\n- c>', 'bullets|d']],
    ['```a\n- b', ['line|```a', 'bullets|b']],
    ['*a\nb*', ['line|*a', 'line|b*']],
    ['', ['line|']],
  ])('%j', (text, expected) => {
    expect(lines(text)).toEqual(expected);
  });

  test('in a list of messages they are words', () => {
    expect(plainOf('*Hi*\n- a\n- b\n7. c\n8. d\n> e')).toBe('Hi\n• a\n• b\n7. c\n8. d\ne');
  });
});

const hostile = [
  '*',
  '_',
  '~',
  '`',
  '```',
  '\n',
  '> ',
  '- ',
  '1. ',
  ' ',
  'a',
  'é',
  '😀',
  '@',
  '.',
  'a.com',
  'https://',
  '(',
  '5',
  '+',
  '-',
];
const texts = fc.array(fc.constantFrom(...hostile), { maxLength: 60 }).map((parts) => parts.join(''));

test('whatever the text: its words stay, in their order, and only the web is led to', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const blocks = blocksOf(text);
      let at = 0;
      for (const character of wordsIn(blocks)) {
        at = text.indexOf(character, at) + character.length;
        expect(at, text).toBeGreaterThanOrEqual(character.length);
      }
      const marks = /[*_~`\n>\s.\d-]/g;
      expect(wordsIn(blocks).replaceAll(marks, '')).toBe(text.replaceAll(marks, ''));
      const hrefs = [...JSON.stringify(blocks).matchAll(/"href":"([^"]*)"/g)].map(([, href]) => href);
      for (const href of hrefs) expect(href).toMatch(/^(?:https?:\/\/.|$)/);
    }),
    { numRuns: 2_000 },
  );
});

test('whatever the text and the room: what is shown is its beginning, and no more than there is room for', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 80 }), fc.integer({ min: 1, max: 8 }), (text, characters, lines) => {
      const { blocks, isCut } = shownOf(text, { characters, lines });
      const [shown, whole] = [wordsIn(blocks), wordsIn(blocksOf(text))];
      expect(whole.startsWith(shown)).toBe(true);
      expect([...shown].length).toBeLessThanOrEqual(characters);
      if (!isCut) expect(shown).toBe(whole);
    }),
    { numRuns: 2_000 },
  );
});

// A parser with quadratic time takes minutes for this.
test.each([
  '*a ',
  '*_~',
  '`',
  '``a',
  '```\n',
  '```a',
  '\n',
  '- a\n',
  '> ',
  'a.',
  'a-',
  '1 ',
  '+1 (2) ',
  'https://',
  '(a',
  'a@a.',
  '_a*',
  '😀*',
])('a text of 300,000 characters of %j is read like any other', (part) => {
  const text = part.repeat(300_000 / part.length);
  expect(plainOf(`${text}\`\`\``).length).toBeLessThanOrEqual(text.length + 300_003);
  expect(shownOf(text).isCut).toBe(true);
});

describe('read more', () => {
  test.each<[string, string, string | undefined]>([
    ['as long as is shown', 'a'.repeat(768), undefined],
    ['a character more', 'a'.repeat(769), 'a'.repeat(768)],
    ['marks are not counted', `*${'a'.repeat(768)}*`, undefined],
    ['after a word', `${'a'.repeat(750)} ${'b'.repeat(40)}`, 'a'.repeat(750)],
    ['characters of two units', '😀'.repeat(769), '😀'.repeat(768)],
    ['as many lines', 'a\n'.repeat(23), undefined],
    ['a line more', 'a\n'.repeat(24), 'a'.repeat(24)],
    ['lines of monospace are lines', `\`\`\`${'a\n'.repeat(25)}\`\`\``, `${'a\n'.repeat(23)}a`],
    ['items of a list are lines', '- a\n'.repeat(25), 'a'.repeat(24)],
  ])('%s', (_, text, shown) => {
    const cut = shownOf(text);
    expect([cut.isCut, wordsIn(cut.blocks)]).toEqual([shown !== undefined, shown ?? wordsIn(blocksOf(text))]);
  });

  test('inside of marks and links: what is shown keeps its form', () => {
    const { blocks } = shownOf('*abc https://a.com/b* d', { characters: 9, lines: 1 });
    expect(blocks.flatMap(spansIn).map(told)).toEqual(['<bold abc <link https https://a.com/b>>']);
  });
});

const minute = 60_000;
test.each([
  [0, 'Offer ended'],
  [-minute, 'Offer ended'],
  [1, 'Ends in 1 min'],
  [59 * minute, 'Ends in 59 min'],
  [60 * minute, 'Ends in 1 h 0 min'],
  [185 * minute, 'Ends in 3 h 5 min'],
  [1_440 * minute, 'Ends in 1 day'],
  [1_560 * minute, 'Ends in 1 day 2 h'],
  [4_400 * minute, 'Ends in 3 days'],
])('an offer that ends in %i ms: %s', (inMs, words) => {
  expect(timeLeft(1_800_000_000_000 + inMs, 1_800_000_000_000)).toBe(words);
});
