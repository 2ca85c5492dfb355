import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonFault } from '../../../lib/http/json-fault.ts';

function messageOf(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
const isJson = (text: string) => messageOf(text) === '';

describe('where a text stops to be JSON, what was expected and what came', () => {
  test.each([
    ['', 'received nothing'],
    [' \n', 'received nothing'],
    ['{', 'line 1, column 2: expected a name in double quotes or }, received the end'],
    ['{"a":1', 'line 1, column 7: expected a comma or }, received the end'],
    ['{"a":1}}', 'line 1, column 8: expected the end, received "}"'],
    ['{"a" 1}', 'line 1, column 6: expected a colon, received "1"'],
    ['{a: 1}', 'line 1, column 2: expected a name in double quotes or }, received "a"'],
    ["{'a': 1}", 'line 1, column 2: expected a name in double quotes or }, received "\'"'],
    ['{"a":1,}', 'line 1, column 8: expected a name in double quotes, received "}"'],
    ['[1,]', 'line 1, column 4: expected a value, received "]"'],
    ['[1 2]', 'line 1, column 4: expected a comma or ], received "2"'],
    ['[', 'line 1, column 2: expected a value or ], received the end'],
    ['{\n  "a": "ü€😀", b\n}', 'line 2, column 15: expected a name in double quotes, received "b"'],
    ['{\r\n"a":\r\nTrue}', 'line 3, column 1: expected a value, received "True"'],
    ['[01]', 'line 1, column 3: expected a comma or ], received "1"'],
    ['[1.]', 'line 1, column 3: expected a comma or ], received "."'],
    ['[-]', 'line 1, column 2: expected a value or ], received "-"'],
    ['name=x&language=es', 'line 1, column 1: expected a value, received "name"'],
    ['--b\r\nContent-Disposition', 'line 1, column 1: expected a value, received "--b"'],
    ['"a\nb"', 'line 1, column 3: expected a closing " or an escape such as \\n, received U+000A'],
    ['"a\\x"', 'line 1, column 3: expected an escape such as \\n, \\" or \\u00e9, received "\\\\"'],
    ['{"a', 'line 1, column 4: expected a closing ", received the end'],
    ['\uFEFF{}', 'line 1, column 1: expected a value, received U+FEFF'],
    ['[\u00A01]', 'line 1, column 2: expected a value or ], received U+00A0'],
    [`[${'x'.repeat(100_000)}]`, `line 1, column 2: expected a value or ], received "${'x'.repeat(17)}..."`],
    [`[${'\u0301'.repeat(50)}]`, 'line 1, column 2: expected a value or ], received U+0301'],
    ['[\ud800]', 'line 1, column 2: expected a value or ], received U+D800'],
  ])('%j', (text, fault) => {
    expect(isJson(text)).toBe(false);
    expect(jsonFault(text)).toBe(fault);
  });
});

/** These pieces often combine to almost valid JSON. */
const pieces = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"a"',
  '"\\u00e9"',
  '"\\',
  '"',
  '0',
  '-1.5e+3',
  '1',
  '.',
  'e',
  'true',
  '\n',
];
const nearlyJson = fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map((chosen) => chosen.join(''));

test('there is a fault exactly where the engine finds one', () => {
  let told = 0;
  const sameAsEngine = (text: string) => {
    const fault = jsonFault(text);
    expect(fault === undefined).toBe(isJson(text));
    const place = /line (\d+),? column (\d+)/;
    const engine = place.exec(messageOf(text))?.slice(1);
    // The engine names a character inside a word, number or escape, so its text is not compared there.
    if (engine === undefined || /received "[\w.\\-]/.test(fault ?? '')) return;
    told += 1;
    expect(place.exec(fault ?? '')?.slice(1)).toEqual(engine);
  };
  fc.assert(fc.property(fc.oneof(nearlyJson, fc.json()), sameAsEngine), { numRuns: 3_000 });
  expect(told).toBeGreaterThan(100);
});
