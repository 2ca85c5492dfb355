import { expect, test } from 'vitest';
import { accept, besideSilence, type CodesBeside, codeWaitsMs, p99Of, silent, singleSends } from './quiet-world.ts';

/*
 * Trouble of one number holds that number alone, and no worker waits for it (D44, D46), so no code of another client is
 * late.
 */

const campaign = { ...besideSilence, before: (world) => void accept(world, 10_000, silent) } satisfies CodesBeside;
const { wabaId } = silent;

test.each<[string, CodesBeside]>([
  ['a number of another WABA that is silent', campaign],
  ['another number of their own WABA that is silent', { ...campaign, head: { wabaId, phoneNumberId: '3' } }],
  ['single sends that find their number silent', { ...besideSilence, before: (world) => singleSends(world) }],
  [
    'single codes that do, half as many as the number may send',
    { ...besideSilence, before: (world) => singleSends(world, { urgent: true, everyMs: 28 }) },
  ],
])(
  'codes beside %s wait at most twice as long as alone',
  async (_, beside) => {
    const idleMs = p99Of(await codeWaitsMs());
    expect(p99Of(await codeWaitsMs(beside))).toBeLessThanOrEqual(2 * idleMs);
  },
  300_000,
);

test('codes beside five thousand codes of another client, on the same number, leave within a second and a half', async () => {
  const before: CodesBeside['before'] = (world) => void accept(world, 5_000, { clientId: 7, urgent: true });
  expect(p99Of(await codeWaitsMs({ before }))).toBeLessThanOrEqual(1_500);
});
