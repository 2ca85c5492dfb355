import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readOptOutFile } from '../../../infra/operate/people/opt-out-rows.ts';

const nowMs = Date.parse('2026-11-26T12:00:00Z');

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function read(content: string | Uint8Array, size = 65_536) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return readOptOutFile(inChunks(bytes, size), nowMs);
}

const rowsOf = async (content: string) => {
  const { rows, faults } = await read(content);
  expect(faults).toEqual([]);
  return [...rows];
};
const faultsOf = async (content: string | Uint8Array) => (await read(content)).faults;

describe('a valid file (D55)', () => {
  test.each([
    ['plain', 'recipient\n5491155550001\n5491155550002\n'],
    ['without an end of the last line', 'recipient\n5491155550001\n5491155550002'],
    ['with a byte order mark', '\uFEFFrecipient\n5491155550001\n5491155550002\n'],
    ["with Windows' line ends", 'recipient\r\n5491155550001\r\n5491155550002\r\n'],
    ['with carriage returns', 'recipient\r5491155550001\r5491155550002\r'],
    ['quoted', '"recipient"\n"5491155550001"\n"5491155550002"\n'],
    ['with pluses', 'recipient\n+5491155550001\n"+5491155550002"\n'],
    ['with blank lines', 'recipient\n5491155550001\n\n5491155550002\n\n'],
    ['with semicolons', 'recipient;at\r\n5491155550001;\r\n"5491155550002";""\r\n'],
    ['with tabs', '\uFEFFat\trecipient\r\n\t5491155550001\r\n\t5491155550002\r\n'],
    ['with heads in another letter case', 'AT, Recipient\n,5491155550001\n,5491155550002\n'],
    ['with times that are not known', 'at,recipient\n,5491155550001\n"",5491155550002\n'],
  ])('%s', async (_, content) => {
    expect(await rowsOf(content)).toEqual([
      ['5491155550001', undefined],
      ['5491155550002', undefined],
    ]);
  });

  test('user ids, whose letter case counts, and times with any offset, until now', async () => {
    const content = `recipient,at\nUS.Ab1,2026-11-26T13:00:00+01:00\nUS.ab1,"2026-11-22T10:00:00.5Z"\n`;
    expect(await rowsOf(content)).toEqual([
      ['US.Ab1', nowMs],
      ['US.ab1', Date.parse('2026-11-22T10:00:00.500Z')],
    ]);
  });

  test('a duplicate in any spelling is counted and is no fault; the later time counts, and a missing time means now', async () => {
    const [early, late] = ['2026-11-20T10:00:00Z', '2026-11-22T10:00:00Z'];
    const content = `recipient,at\n5491155550001,${late}\n+5491155550001,${early}\n5491155550002,${late}\n5491155550002,\n5491155550002,${early}\n`;
    expect(await read(content)).toMatchObject({ duplicates: 3, faults: [] });
    expect(await rowsOf(content)).toEqual([
      ['5491155550001', Date.parse(late)],
      ['5491155550002', undefined],
    ]);
  });

  test('a header alone names no people', async () => {
    expect(await read('recipient\n')).toMatchObject({ duplicates: 0, faults: [], moreFaults: 0 });
  });
});

test.each<readonly [string, string | Uint8Array, readonly string[]]>([
  ['empty', '', ['line 1: the file is empty; the first line names the columns: recipient, and at where it is known']],
  [
    'without a header',
    '5491155550001\n5491155550002\n',
    [
      'line 1: there is no column recipient; the first line names the columns: recipient, and at where it is known',
      'line 1: a column "5491155550001" is not known; the first line names the columns: recipient, and at where it is known',
    ],
  ],
  [
    'with columns that are not known, and rows with faults',
    'Name,RECIPIENT,Phone\nAna,abc,1\nBo,5491155550001\n',
    [
      'line 1: a column "name" is not known; the first line names the columns: recipient, and at where it is known',
      'line 1: a column "phone" is not known; the first line names the columns: recipient, and at where it is known',
      'line 2: recipient must be 8 to 15 digits with an optional +, or a business-scoped user id, received "abc"',
      'line 3: has too few values, received "Bo,5491155550001"',
    ],
  ],
  ['with a column twice', 'recipient,recipient\n5491155550001,5491155550001\n', ['line 1: a column is there twice']],
  ['in UTF-16', Buffer.from('\uFEFFrecipient\n5491155550001\n', 'utf16le'), ['line 1: the file is not UTF-8']],
  [
    'in Latin-1',
    Buffer.from('recipient,at\n5491155550001,ayer a la ma\u00f1ana\n5491155550002,\n', 'latin1'),
    ['line 2: is not UTF-8'],
  ],
])('a file is refused: %s', async (_, content, faults) => {
  const found = await faultsOf(content);
  // In a file with another encoding, the first fault says so.
  expect(found.slice(0, faults.length)).toEqual(faults);
});

const notRecipient = (received: string) =>
  `line 2: recipient must be 8 to 15 digits with an optional +, or a business-scoped user id, received ${received}`;
const rounded = (received: string) =>
  `line 2: the spreadsheet has rounded this number: make the column a text, and write the file again, received ${received}`;
const notTime = (received: string) =>
  `line 2: at must be a time such as 2026-11-22T10:00:00Z (RFC 3339), or empty, received ${received}`;

test.each([
  ['54 911 5555 0001,', notRecipient('"54 911 5555 0001"')],
  ['54-911-55550001,', notRecipient('"54-911-55550001"')],
  ['5491155550001 ,', notRecipient('"5491155550001 "')],
  ['(54)91155550001,', notRecipient('"(54)91155550001"')],
  ['++5491155550001,', notRecipient('"++5491155550001"')],
  ['05491155550001,', notRecipient('"05491155550001": it begins with a zero, and no country code does')],
  ['1234567,', notRecipient('"1234567"')],
  ['1234567890123456,', notRecipient('"1234567890123456"')],
  ['5.49116E+12,', rounded('"5.49116E+12"')],
  ['"5,49116e+12",', rounded('"5,49116e+12"')],
  [',', notRecipient('""')],
  [`US.${'a'.repeat(129)},`, notRecipient(`"US.${'a'.repeat(34)}..."`)],
  [
    'us.13491208655302741918,',
    notRecipient('"us.13491208655302741918": its letter case is wrong, a user id begins with US.'),
  ],
  ['"549\u001b[2J",', notRecipient('"549\\u001b[2J": it has an invisible character, U+001B')],
  ['5491155550001,2026-11-22', notTime('"2026-11-22"')],
  ['5491155550001,2026-02-30T10:00:00Z', notTime('"2026-02-30T10:00:00Z"')],
  ['5491155550001,2026-11-22T10:00:00', notTime('"2026-11-22T10:00:00"')],
  ['5491155550001,2026-11-26T12:00:01Z', 'line 2: at is in the future, received "2026-11-26T12:00:01Z"'],
  ['5491155550001', 'line 2: has too few values, received "5491155550001"'],
  ['5491155550001;', 'line 2: has too few values, received "5491155550001;"'],
  ['5491155550001,,', 'line 2: has too many values, received "5491155550001,,"'],
  ['"5491155550001,', 'line 2: the quotes do not fit, received "\\"5491155550001,"'],
  ['549"1155550001,', 'line 2: the quotes do not fit, received "549\\"1155550001,"'],
  ['"5491155550001"1,', 'line 2: the quotes do not fit, received "\\"5491155550001\\"1,"'],
  ['"54""91155550001",', notRecipient('"54\\"91155550001"')],
  [`${'1'.repeat(1_001)},`, 'line 2: is longer than 1000 characters'],
])('a row is refused by its line with what came: %j', async (row, fault) => {
  // Rows after a faulty row are checked too.
  const next =
    'line 3: recipient must be 8 to 15 digits with an optional +, or a business-scoped user id, received "x"';
  expect(await faultsOf(`recipient,at\n${row}\nx,\n5491155550009,\n`)).toEqual([fault, next]);
});

test('of two faults of a row both are told', async () => {
  expect(await faultsOf('recipient,at\nabc,soon\n')).toEqual([notRecipient('"abc"'), notTime('"soon"')]);
});

test('a hundred faults are told, and how many more there are', async () => {
  const { faults, moreFaults } = await read(`recipient\n${'x\n'.repeat(250)}`);
  expect([faults.length, faults.at(-1)?.slice(0, 9), moreFaults]).toEqual([100, 'line 101:', 150]);
});

test('how a file comes in parts changes nothing, also within a character or the end of a line', async () => {
  const line = fc.constantFrom('+5491155550001', '"US.Ab1"', 'ñandú 🛑', '"', '', '5491155550002', 'x'.repeat(1_500));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r'))),
      fc.integer({ min: 1, max: 40 }),
      async (lines, size) => {
        const content = `\uFEFFrecipient\r\n${lines.flat().join('')}`;
        expect(await read(content, size)).toEqual(await read(content));
      },
    ),
  );
});

test('too many people are one fault; a duplicate does not count', async () => {
  const content = new TextEncoder().encode(
    'recipient\n5491155550001\n5491155550001\n5491155550002\n5491155550003\nx\n',
  );
  const { faults } = await readOptOutFile(inChunks(content, 100), nowMs, 2);
  expect(faults).toEqual(['line 5: there are more than 2 people: part the file']);
  expect((await readOptOutFile(inChunks(content.subarray(0, -18), 100), nowMs, 2)).faults).toEqual([]);
});
