/**
 * This file finds where a text stops being JSON, and what was expected there. The engine's message does so for some
 * faults only, and quotes the text. Nothing here allocates or recurses.
 */

/** These may come next, in the words of the refusal. */
const expectations = {
  value: 'a value',
  firstItem: 'a value or ]',
  firstName: 'a name in double quotes or }',
  name: 'a name in double quotes',
  colon: 'a colon',
  nextName: 'a comma or }',
  nextItem: 'a comma or ]',
  end: 'the end',
} as const;
type Expectation = keyof typeof expectations;

interface Stop {
  readonly at: number;
  readonly expected: string;
}

/**
 * Returns `line 2, column 7: expected a comma or }, received "x"`, or `received nothing`, or undefined for valid JSON.
 * Lines and columns count from 1, columns in characters.
 */
export function jsonFault(text: string): string | undefined {
  if (text.trim() === '') return 'received nothing';
  const stop = firstStop(text);
  if (stop === undefined) return undefined;
  return `${placeIn(text, stop.at)}: expected ${stop.expected}, received ${receivedAt(text, stop.at)}`;
}

/** Returns a place in a text as line and column. */
export function placeIn(text: string, end: number): string {
  const before = text.slice(0, end);
  let line = 1;
  let start = 0;
  for (const { 0: ending, index } of before.matchAll(/\r\n|\r|\n/g)) {
    line += 1;
    start = index + ending.length;
  }
  let column = 1;
  for (const _ of before.slice(start)) column += 1;
  return `line ${line}, column ${column}`;
}

/** Quotes at most a word, so that the answer stays short. */
function receivedAt(text: string, at: number): string {
  const rest = text.slice(at, at + 40);
  const [character] = rest;
  if (character === undefined) return 'the end';
  const [word] = /^[\p{L}\p{N}_$.+-]+/u.exec(rest) ?? [];
  if (word !== undefined) return JSON.stringify(word.length <= 20 ? word : `${word.slice(0, 17)}...`);
  if (/[\p{P}\p{S}]/u.test(character)) return JSON.stringify(character);
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function firstStop(text: string): Stop | undefined {
  /** Innermost brackets are last; true stands for an object. */
  const open: boolean[] = [];
  let expectation: Expectation = 'value';
  for (let at = afterBlanks(text, 0); at < text.length; at = afterBlanks(text, at)) {
    const step = stepAt(text, { at, expectation, open });
    if (typeof step.next !== 'string') return step.next;
    at = step.at;
    expectation = step.next;
  }
  return expectation === 'end' ? undefined : { at: text.length, expected: expectations[expectation] };
}

interface Place {
  readonly at: number;
  readonly expectation: Expectation;
  readonly open: boolean[];
}

interface Step {
  readonly at: number;
  readonly next: Expectation | Stop;
}

function stepAt(text: string, { at, expectation, open }: Place): Step {
  const character = text.charAt(at);
  const afterValue = (): Expectation => (open.length === 0 ? 'end' : open.at(-1) ? 'nextName' : 'nextItem');
  const close = (): Step => {
    open.pop();
    return { at: at + 1, next: afterValue() };
  };
  const stop: Step = { at, next: { at, expected: expectations[expectation] } };
  switch (expectation) {
    case 'end':
      return stop;
    case 'colon':
      return character === ':' ? { at: at + 1, next: 'value' } : stop;
    case 'nextName':
      return character === '}' ? close() : character === ',' ? { at: at + 1, next: 'name' } : stop;
    case 'nextItem':
      return character === ']' ? close() : character === ',' ? { at: at + 1, next: 'value' } : stop;
    case 'firstName':
    case 'name':
      if (character === '}' && expectation === 'firstName') return close();
      return character === '"' ? textAt(text, at, 'colon') : stop;
    case 'firstItem':
    case 'value':
      if (character === ']' && expectation === 'firstItem') return close();
      if (character === '{' || character === '[') {
        open.push(character === '{');
        return { at: at + 1, next: character === '{' ? 'firstName' : 'firstItem' };
      }
      if (character === '"') return textAt(text, at, afterValue());
      return plainAt(text, at, { next: afterValue(), stop });
  }
}

function plainAt(text: string, at: number, { next, stop }: { readonly next: Expectation; readonly stop: Step }): Step {
  const word = /[a-zA-Z]*/y;
  word.lastIndex = at;
  const [name = ''] = word.exec(text) ?? [];
  if (name === 'true' || name === 'false' || name === 'null') return { at: at + name.length, next };
  const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
  number.lastIndex = at;
  const [digits] = number.exec(text) ?? [];
  return digits === undefined ? stop : { at: at + digits.length, next };
}

const control = 0x20;
const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function textAt(text: string, start: number, next: Expectation): Step {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') return { at: at + 1, next };
    if (character.charCodeAt(0) < control)
      return { at, next: { at, expected: 'a closing " or an escape such as \\n' } };
    if (character !== '\\') continue;
    escapes.lastIndex = at;
    if (!escapes.test(text)) return { at, next: { at, expected: 'an escape such as \\n, \\" or \\u00e9' } };
    at = escapes.lastIndex - 1;
  }
  return { at: text.length, next: { at: text.length, expected: 'a closing "' } };
}

function afterBlanks(text: string, start: number): number {
  let at = start;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  return at;
}
