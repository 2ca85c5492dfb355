import { expect, test } from 'vitest';
import { progressOn } from '../../../infra/local/demo/progress.ts';

test.each([
  [true, '\r   0 of 1000 have reached the platform\r 250 of 1000 have reached the platform\n'],
  [false, '   0 of 1000 have reached the platform\n 250 of 1000 have reached the platform\n'],
])('on a terminal (%s) one line is written over, elsewhere each change has its own', (isTTY, expected) => {
  let written = '';
  const progress = progressOn({
    isTTY,
    write: (text) => {
      written += text;
    },
  });
  for (const done of [0, 0, 250, 250]) progress.show(done, 1_000);
  progress.end();
  progress.end();
  expect(written).toBe(expected);
});
