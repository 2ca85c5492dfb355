import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressLine } from '../../infra/local/console.ts';
import { noteLocalStack } from '../../infra/operate/local-stacks.ts';
import { addressOf } from '../support/addresses.ts';
import { platform } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { runningStack } from '../support/running-target.ts';

/*
 * A reader pastes the tour of the README into one shell, command by command. The line that `npm start` prints comes
 * first, because this stack has other ports.
 */

const root = join(import.meta.dirname, '../..');
const longestMs = 150_000;
/** This person stops; no other contract test writes to the number. */
const stopping = '5491155550009';
let forget: () => void;
beforeAll(async () => {
  forget = noteLocalStack(runningStack());
  // A webhook tells of a stop, as on the stack of `npm start`.
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
});
afterAll(async () => {
  await tellAt(addressOf('platformUrl'), null);
  await platform(`POST /_control/recipients/${stopping}/preference`, {
    ...{ phone_number_id: '300000000000001', value: 'resume' },
  });
  forget();
});

/** Returns the first block of the chapter, split at its numbered comments. */
function stepsOf(readme: string): string[] {
  const [, chapter = ''] = readme.split('## Five minutes\n');
  const [, block = ''] = /```sh\n(.*?)```/s.exec(chapter) ?? [];
  return block.split(/^(?=# \d\. )/m);
}

test(
  'the tour runs as it is written: each command answers, and the first list is not empty',
  async () => {
    const steps = stepsOf(readFileSync(join(root, 'README.md'), 'utf8'));
    expect(steps.length).toBeGreaterThan(5);
    const printed = addressLine({ apiUrl: addressOf('apiUrl'), platformUrl: addressOf('platformUrl') });
    const script = [printed, ...steps.flatMap((step) => ['echo "=== step"', step])].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], {
      ...{ cwd: root, maxBuffer: 16_777_216 },
      // The shell waits for events that may not come, so it must end before the test does.
      timeout: longestMs - 10_000,
    });
    const [, , token, synchronized, listed, sent, became, seen, campaign = '', later, spent] =
      stdout.split('=== step\n');
    expect(token?.trim()).toBe('');
    expect(synchronized).toContain('"status":"started"');
    expect(JSON.parse(listed ?? '').data.length).toBeGreaterThan(0);
    expect(sent).toMatch(/^\s*dispatch [0-9A-Z]{26}\n/);
    expect(JSON.parse(became ?? '').counts).toMatchObject({ pending: 0, failed: 1 });
    expect(seen).toMatch(/ order_update +3 +0 +0 /);
    expect(seen).toContain('"to":"5491155550002"');
    const [before, after] = campaign.split('\n').filter((line) => line.includes('"complete":true'));
    expect(JSON.parse(before ?? '').counts).toMatchObject({ pending: 0, failed: 0 });
    expect(JSON.parse(after ?? '').counts).toMatchObject({ pending: 0, failed: 1 });
    expect(after).toMatch(new RegExp(`"to":"${stopping}"[^}]*"state":"failed","code":"opted_out"`));
    expect(later).toMatch(/"state":"scheduled".*\n\{"cancelled":[1-9]\d*,"more":false\}\n/);
    expect(JSON.parse(spent ?? '').data).toContainEqual(expect.objectContaining({ market: 'AR', currency: 'USD' }));
    // The platform got no message after the stop, only the one before it.
    expect((await platform(`GET /_control/messages?to=${stopping}`)).body.total).toBe(1);
  },
  longestMs,
);
