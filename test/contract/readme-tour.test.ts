import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressLine, messageLine } from '../../infra/local/console.ts';
import { noteLocalStack } from '../../infra/operate/local-stacks.ts';
import { addressOf } from '../support/addresses.ts';
import { platform } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { runningStack } from '../support/running-target.ts';

/*
 * A reader pastes the tour of the README into one shell, block by block. The lines that `npm start` prints come first,
 * because this stack has other ports.
 */

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const longestMs = 150_000;
/** This person of the README stops. */
const stopping = '5491155550009';
/**
 * Each shell is as a person uses it, but without settings: zsh then takes a comment for a command. Its own person
 * stops, to whom no other contract test writes.
 */
const shells = [
  ['bash', ['--norc', '--noprofile', '-i'], stopping],
  ['zsh', ['-f', '-i', '-o', 'no_prompt_sp'], '5491155550019'],
] as const;
let forget: () => void;
beforeAll(async () => {
  forget = noteLocalStack(runningStack());
  // A webhook tells of a stop, as on the stack of `npm start`.
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
});
afterAll(async () => {
  await tellAt(addressOf('platformUrl'), null);
  forget();
});

const messagesTo = async (person: string) => (await platform(`GET /_control/messages?to=${person}`)).body.total;

function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/** Pastes into an interactive shell in a session of its own, so that it cannot reach the terminal of the tests. */
async function paste(shell: string, options: readonly string[], text: string) {
  const environment = { ...process.env, PS1: '', PS2: '' };
  const child = spawn(shell, options, { cwd: root, env: environment, detached: true });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  child.stdin.end(text);
  // The shell waits for events that may not come, so it must end before the test does.
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), longestMs - 10_000);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return said;
}

/** Without a terminal bash says that it cannot control jobs. */
const harmless = /^bash: (?:cannot set terminal process group|no job control in this shell|initialize_job_control)/;

/** Returns what the shell and its programs complain of; bash repeats what was pasted too. */
function complaintsIn(stderr: string): readonly string[] {
  return stderr.split('\n').filter((line) => /^(?:bash|zsh|curl|sed|grep): /.test(line) && !harmless.test(line));
}

test('no pasted block of the README has a comment: an interactive zsh takes it for a command', () => {
  const lines = blocksOf(readme).flatMap((block) => block.split('\n'));
  expect(lines.length).toBeGreaterThan(30);
  expect(lines.filter((line) => /(^|\s)#/.test(line))).toEqual([]);
});

describe.each(shells)('the tour in %s', (shell, options, person) => {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  if (!isThere) console.warn(`The tour is not pasted into ${shell}: it is not installed here.`);
  test.skipIf(!isThere)(
    'runs as it is written: each block answers, and the first list is not empty',
    async () => {
      const had = await messagesTo(person);
      const [, chapter = ''] = readme.split('## Five minutes\n');
      const [tour = ''] = chapter.split('**Events**');
      // The second shell sends as much as the first, so it needs keys of its own.
      const blocks = blocksOf(tour.replaceAll('tour-', `tour-${shell}-`).replaceAll(stopping, person));
      expect(blocks).toHaveLength(9);
      const stack = { apiUrl: addressOf('apiUrl'), platformUrl: addressOf('platformUrl') };
      const script = [`${addressLine(stack)}\n`, `${messageLine(stack)}\n`, ...blocks].join('echo "=== step"\n');
      const { stdout, stderr } = await paste(shell, options, script);
      const [, first, token, synchronized, listed, sent, became, seen, campaign = '', later, spent] =
        stdout.split('=== step\n');
      expect(complaintsIn(stderr)).toEqual([]);
      expect(first).toBe('{"success":true}\n');
      expect(token?.trim()).toBe('');
      expect(synchronized).toContain('"status":"started"');
      expect(JSON.parse(listed ?? '').data.length).toBeGreaterThan(0);
      expect(sent).toMatch(/^\{"success":true\}\ndispatch [0-9A-Z]{26}\n$/);
      expect(JSON.parse(became ?? '').counts).toMatchObject({ pending: 0, failed: 1 });
      expect(seen).toMatch(/ order_update +3 +0 +0 /);
      expect(seen).toContain('"to":"5491155550002"');
      const [before, after] = campaign.split('\n').filter((line) => line.includes('"complete":true'));
      expect(JSON.parse(before ?? '').counts).toMatchObject({ pending: 0, failed: 0 });
      expect(JSON.parse(after ?? '').counts).toMatchObject({ pending: 0, failed: 1 });
      expect(after).toMatch(new RegExp(`"to":"${person}"[^}]*"state":"failed","code":"opted_out"`));
      expect(later).toMatch(/"state":"scheduled".*\n\{"cancelled":[1-9]\d*,"more":false\}\n/);
      expect(JSON.parse(spent ?? '').data).toContainEqual(expect.objectContaining({ market: 'AR', currency: 'USD' }));
      // The platform got no message after the stop, only the one before it.
      expect(await messagesTo(person)).toBe(had + 1);
    },
    longestMs,
  );
});
