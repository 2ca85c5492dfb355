import { expect, test } from 'vitest';
import { progressOn } from '../../../infra/local/demo/progress.ts';

const none = { pending: 0, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };
const begun = 'pending 1000  held    0  sent    0  delivered    0  read    0  failed    0  expired    0  unknown    0';
const later = 'pending    0  held    2  sent  250  delivered  500  read  240  failed    7  expired    0  unknown    1';

test.each([
  [true, `\r${begun}\r${later}\n`],
  [false, `${begun}\n${later}\n`],
])('on a terminal (%s) one line is written over, elsewhere each change has its own', (isTTY, expected) => {
  let written = '';
  const progress = progressOn({
    isTTY,
    write: (text) => {
      written += text;
    },
  });
  const half = { ...none, held: 2, sent: 250, delivered: 500, read: 240, failed: 7, unknown: 1 };
  for (const counts of [{ ...none, pending: 1_000 }, { ...none, pending: 1_000 }, half, half]) progress.show(counts);
  progress.end();
  progress.end();
  expect(written).toBe(expected);
});
