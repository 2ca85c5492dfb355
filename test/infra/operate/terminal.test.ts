import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { helpOf } from '../../../infra/operate/help.ts';
import { clearProgress, progressOn } from '../../../infra/operate/progress.ts';
import { tableOf } from '../../../infra/operate/table.ts';
import { momentMs, periodOf } from '../../../infra/operate/time-span.ts';

test('a table has headings, numbers on the right without separators, and a mark where there is no value', () => {
  expect(
    tableOf(
      ['ID', 'COUNT', 'TEXT'],
      [
        ['a', 1_234_567, 'b c'],
        ['long', 1, undefined],
        ['', undefined, 'x'],
      ],
    ),
  ).toEqual(['ID      COUNT  TEXT', 'a     1234567  b c', 'long        1  -', '-           -  x']);
  expect(tableOf(['ID', 'COUNT'], [])).toEqual(['ID  COUNT']);
  expect(tableOf(['ID'], [['a\u001b[2Jb\n']])).toEqual(['ID', 'a[2Jb']);
});

describe('a moment of --since or --until', () => {
  const nowMs = Date.parse('2026-11-26T12:00:00Z');
  test.each([
    ['30m', '2026-11-26T11:30:00Z'],
    ['1h', '2026-11-26T11:00:00Z'],
    ['2d', '2026-11-24T12:00:00Z'],
    ['2026-11-26T13:00:00+02:00', '2026-11-26T11:00:00Z'],
    ['2026-11-26T11:00Z', '2026-11-26T11:00:00Z'],
    ['2026-11-01', '2026-11-01T00:00:00Z'],
  ])('%s', (text, moment) => {
    expect(momentMs(text, '--since', nowMs)).toBe(Date.parse(moment));
  });

  test.each(['yesterday', '1w', '0h', '-1h', '2026-02-30', '2026-11-26T11:00:00', '1 h', ''])('not %j', (text) => {
    expect(() => momentMs(text, '--until', nowMs)).toThrow(/^--until takes 30m, 1h or 2d, or a time such as/);
  });

  test('a period ends now, or later than it begins', () => {
    expect(periodOf({ since: '1h' }, nowMs)).toEqual({ sinceMs: nowMs - 3_600_000, untilMs: nowMs });
    expect(() => periodOf({ since: '1h', until: '2h' }, nowMs)).toThrow('--until is before --since');
    expect(() => periodOf({}, nowMs)).toThrow('--since is missing');
  });
});

describe('long work', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  async function told(isTTY: boolean, seconds: number): Promise<string[]> {
    const written: string[] = [];
    let done = 0;
    const work = async () => {
      for (done = 0; done < seconds; done += 1) await vi.advanceTimersByTimeAsync(1_000);
      return 'all';
    };
    const output = { isTTY, write: (text: string) => written.push(text) };
    expect(await progressOn(output)(() => `${done} of ${seconds}`, work)).toBe('all');
    await vi.advanceTimersByTimeAsync(120_000);
    return written;
  }

  test('tells how far it is each second on a terminal, over the line before, and clears it', async () => {
    const lines = await told(true, 3);
    expect(lines).toHaveLength(4);
    expect(lines[1]).toBe('\r\u001b[K2 s: 1 of 3');
    expect(lines.at(-1)).toBe('\r\u001b[K');
  });

  test('tells a line a minute elsewhere', async () => {
    expect(await told(false, 130)).toEqual(['60 s: 59 of 130\n', '120 s: 119 of 130\n']);
  });

  test('gives way on a terminal to a line that is printed meanwhile', () => {
    const written: string[] = [];
    for (const isTTY of [false, true]) clearProgress({ isTTY, write: (text) => written.push(text) });
    expect(written).toEqual(['\r\u001b[K']);
  });
});

test('a help fills its paragraphs and keeps what begins with a blank', () => {
  const text = helpOf({
    lines: ['thing ONE', 'thing TWO'],
    about: `What it does,\nin ${'many '.repeat(20)}words.\n\n  kept   as it is`,
    options: {
      json: { type: 'boolean', about: 'a text '.repeat(15) },
      'a-very-long-option': { type: 'string', value: 'WITH,A,LONG,VALUE', about: 'on its own line' },
    },
  });
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(text).toMatch(/^usage: infra\/ops thing ONE\n {7}infra\/ops thing TWO\n\nWhat it does, in many/);
  expect(text).toContain('\n\n  kept   as it is\n');
  expect(text).toMatch(/\n {2}--a-very-long-option WITH,A,LONG,VALUE\n +on its own line$/);
});
