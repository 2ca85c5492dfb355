import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stopWordMatcher, stopWords } from '../../../lib/opt-outs/stop-words.ts';

const judge = stopWordMatcher(stopWords);
const said = (text: string) => judge({ by: 'text', text });

test.each([
  [
    'stop',
    'STOP',
    'S.T.O.P.',
    ' s t o p ',
    'Stop!!!',
    '¡STOP!',
    '“stop”',
    'ＳＴＯＰ',
    'STOP 🛑',
    's\u200bt\u00adop\ufeff',
    '\u202eSTOP',
  ],
  [
    'baja',
    'Baja.',
    'DARME DE BAJA',
    'dar  de\nbaja',
    'Sálir',
    'PARAR',
    'cancelar suscripción',
    'desuscribir',
    'Remover',
  ],
  [
    'Sair',
    'DESCADASTRAR',
    'cancelar inscrição',
    'Arrêt',
    'ARRÊTER',
    'Stopp',
    'm\u0065\u0301 désabonner',
    'abmelden',
    'disiscrivimi',
  ],
  ['Unsubscribe', 'OPT-OUT', 'opt_out', '*STOP*', 'cancel'],
])('a stop, however it is written: %s (D55)', (...texts) => {
  expect(texts.filter((text) => said(text) !== 'stop')).toEqual([]);
});

test('a start is one too', () => {
  expect(['START', 'Alta', 'volver', 'Suscribir', "M'abonner", 'fortsetzen', '¡alta!'].map(said)).toEqual(
    Array(7).fill('start'),
  );
});

test.each([
  ...[
    'please stop',
    "don't stop",
    'stop it',
    'Para de escribir',
    'quiero la baja',
    'non stop',
    'stop 2',
    'bajas',
    'nonstop',
  ],
  ...[
    '',
    ' ',
    '...',
    '🛑',
    '\u200b',
    'no',
    'yes',
    'ok',
    's top',
    'bus stop, please',
    'cancel my order',
    `stop${' '.repeat(100)}`,
  ],
])('%j says nothing', (text) => {
  expect(said(text)).toBeUndefined();
});

const anyWord = fc.constantFrom(...stopWords.stop, ...stopWords.start);
const decoration = fc.string({ unit: fc.constantFrom(...' .,!?¡¿"\'*_-\n\u200b\u200d\u00ad\ufe0f🛑👍'), maxLength: 8 });
const accents = ['', '\u0301', '\u0308', '\u200b', '\ufe0f'];

test('signs around a word, case, accents and characters without width change nothing', () => {
  const spelled = fc.record({
    word: anyWord,
    before: decoration,
    after: decoration,
    marks: fc.array(fc.nat(4), { minLength: 40, maxLength: 40 }),
    upper: fc.boolean(),
  });
  fc.assert(
    fc.property(spelled, ({ word, before, after, marks, upper }) => {
      const marked = [...word]
        .map((letter, at) => `${letter}${letter === ' ' ? '' : accents[marks[at] ?? 0]}`)
        .join('');
      expect(said(`${before}${upper ? marked.toUpperCase() : marked}${after}`)).toBe(said(word));
      expect(said(word)).toBeDefined();
    }),
  );
});

test('a word with a dot or a space after each letter is the word', () => {
  fc.assert(
    fc.property(
      anyWord.filter((word) => !word.includes(' ')),
      fc.constantFrom('.', ' ', '. ', '-'),
      (word, sign) => {
        expect(said([...word].join(sign))).toBe(said(word));
      },
    ),
  );
});

test('a word is never found in a text that says more', () => {
  const more = fc.stringMatching(/^[a-z0-9ñé]{2,12}$/);
  const phrases = new Set([...stopWords.stop, ...stopWords.start]);
  fc.assert(
    fc.property(anyWord, more, fc.constantFrom(' ', ', ', '\n', ''), fc.boolean(), (word, other, sign, isFirst) => {
      const parts = isFirst ? [word, other] : [other, word];
      fc.pre(!phrases.has(parts.join(' ')) && !phrases.has(parts.join('')));
      expect(said(parts.join(sign))).toBeUndefined();
    }),
  );
});

describe('a button', () => {
  const own = stopWordMatcher({ ...stopWords, stopButtons: ['No más ofertas', 'optout:7'] });

  test('counts by its label or its payload, from whichever list was given', () => {
    expect(own({ by: 'quick_reply', text: 'NO MAS OFERTAS', payload: '{"id":"x"}' })).toBe('stop');
    expect(own({ by: 'button', text: 'Enough', payload: 'OptOut:7' })).toBe('stop');
    expect(judge({ by: 'quick_reply', text: 'Unsubscribe from All' })).toBe('stop');
    expect(judge({ by: 'quick_reply', text: 'No más ofertas' })).toBeUndefined();
  });

  test.each([
    ...['Stop promotions', 'Unsubscribe from Promos', 'Parar promoções', 'Detener promociones'],
    ...['Interrompi promozioni', 'DETENER PROMOCIONES'],
  ])("the platform's own, %s, counts whatever the operator's list is, and only pressed (D55)", (text) => {
    const judges = [judge, own, stopWordMatcher({ stop: [], start: [], stopButtons: [] })];
    for (const each of judges) {
      expect(each({ by: 'quick_reply', text, payload: 'ours' })).toBe('stop');
      expect(each({ by: 'text', text })).toBeUndefined();
    }
  });

  test('is no text: "Cancel" may mean an appointment', () => {
    expect(own({ by: 'quick_reply', text: 'Cancel', payload: 'STOP' })).toBeUndefined();
    expect(own({ by: 'text', text: 'optout:7' })).toBeUndefined();
    expect(own({ by: 'list', text: 'optout:7', payload: 'optout:7' })).toBeUndefined();
    expect(own({ by: 'flow', text: 'STOP', payload: '{}' })).toBeUndefined();
  });
});

test('a list of its own replaces every word, spelled as it likes', () => {
  const own = stopWordMatcher({ stop: ['¡Basta YA!'], start: [], stopButtons: [] });
  expect(own({ by: 'text', text: 'basta ya' })).toBe('stop');
  expect(own({ by: 'text', text: 'STOP' })).toBeUndefined();
});

test('no word means both, and none is there twice', () => {
  for (const list of [stopWords.stop, stopWords.start]) expect(new Set(list).size).toBe(list.length);
  expect(stopWords.stop.filter((word) => stopWords.start.includes(word))).toEqual([]);
  expect([...stopWords.stop.map(said), ...stopWords.start.map(said)]).toEqual([
    ...stopWords.stop.map(() => 'stop'),
    ...stopWords.start.map(() => 'start'),
  ]);
});
