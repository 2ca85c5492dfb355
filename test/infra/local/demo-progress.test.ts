import { expect, test } from 'vitest';
import { progressOn } from '../../../infra/local/demo/progress.ts';

const none = { pending: 0, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };
const begun = 'pending 1000  held    0  sent    0  delivered    0  read    0  failed    0  expired    0  unknown    0';
const later = 'pending    0  held    2  sent  250  delivered  500  read  240  failed    7  expired    0  unknown    1';
const settled =
  'pending    0  held    2  sent    0  delivered  500  read  490  failed    7  expired    0  unknown    1';
const [still, rate] = ['     0 messages/s', '   100 messages/s'];

test.each([
  [true, `\r${begun}${still}\r${later}${rate}\r${settled}${rate}\n`],
  [false, `${begun}${still}\n${later}${rate}\n${settled}${rate}\n`],
])(
  'on a terminal (%s) one line is written over, elsewhere each change has its own; it says how fast',
  (isTTY, expected) => {
    let written = '';
    let nowMs = 5_000;
    const write = (text: string) => {
      written += text;
    };
    // Ten seconds pass between two polls.
    const progress = progressOn({ isTTY, write }, () => nowMs);
    const half = { ...none, held: 2, sent: 250, delivered: 500, read: 240, failed: 7, unknown: 1 };
    // The messages are pending for a while, then leave within ten seconds: only these ten seconds count for the rate.
    const read = { ...half, sent: 0, read: 490 };
    for (const counts of [{ ...none, pending: 1_000 }, { ...none, pending: 1_000 }, half, half, read]) {
      progress.show(counts);
      nowMs += 10_000;
    }
    progress.end();
    progress.end();
    expect(written).toBe(expected);
  },
);
