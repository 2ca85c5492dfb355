import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { reachOf, testsThatReach } from '../reach.ts';
import { allTests, isWhenReached, testFiles } from '../suites.ts';

const campaign = 'test/pipeline/held-campaign.test.ts';
const command = 'test/infra/operate/redrive.queue.test.ts';
const bundles = 'test/infra/commands.test.ts';
const parts = 'test/infra/local/router.test.ts';
const exploration = 'test/lib/webhooks/delivery/delivery-explorer.test.ts';
const all = [campaign, command, bundles, parts, exploration];

test.each([
  ['a rule of the way of a message', ['lib/messages/pace/known-pace.ts'], [campaign, command, bundles]],
  ['the page of an endpoint, which only bundles have', ['functions/health.ts'], [bundles]],
  ['a program that tests start by its name', ['infra/operate/ops.ts'], [command, bundles]],
  ['a rule that an exploration tries', ['lib/webhooks/delivery/retry.ts'], [bundles, exploration]],
  ['a part of the local stack', ['infra/local/router.ts'], [bundles, parts]],
  ['the test itself', [parts], [parts]],
  ['a book', ['README.md'], []],
  ['the versions of packages', ['package-lock.json'], all],
  ['nothing', [], []],
  ['what is not known', undefined, all],
])('%s: a change reaches these tests', (_, changed, reached) => {
  expect([...testsThatReach(all, changed)]).toEqual(reached);
});

test.each(testFiles(allTests).filter((file) => file.startsWith('test/lib/') && isWhenReached(file)))(
  '%s reaches the rules of its folder',
  (file) => {
    const folder = dirname(file).replace('test/', '');
    expect(reachOf(file).map(dirname)).toContain(folder);
  },
);

const folder = mkdtempSync(join(tmpdir(), 'published-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the published commit is the newest one that HEAD shares with the cloned branch, where there is one', async () => {
  const git = (cwd: string, ...given: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...given], { cwd, encoding: 'utf8' });
  const [from, clone] = [join(folder, 'from'), join(folder, 'clone')];
  const home = join(import.meta.dirname, '../..');
  mkdirSync(join(from, 'test'), { recursive: true });
  cpSync(join(home, 'test/changed-files.ts'), join(from, 'test/changed-files.ts'));
  writeFileSync(join(from, 'package.json'), '{"type":"module"}');
  git(from, 'init', '-b', 'main');
  git(from, 'add', '.');
  git(from, 'commit', '-m', 'published');
  git(folder, 'clone', '-q', from, clone);
  git(clone, 'commit', '--allow-empty', '-m', 'not published');
  const publishedIn = async (repository: string) => {
    const { publishedCommit } = await import(pathToFileURL(join(repository, 'test/changed-files.ts')).href);
    return publishedCommit();
  };
  expect(await publishedIn(clone)).toBe(git(from, 'rev-parse', 'HEAD').trim());
  expect(await publishedIn(from)).toBeUndefined();
});
