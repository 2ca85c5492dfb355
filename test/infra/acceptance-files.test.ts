import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { acceptanceFile } from '../acceptance/acceptance-data.ts';
import { acceptanceFiles, leftOut } from '../acceptance/files.ts';

const root = join(import.meta.dirname, '..', '..');
const stem = (path: string) => basename(path, '.test.ts');

it('each contract test runs against a deployed stage, or has a reason why it does not', () => {
  const all = globSync('test/contract/*.test.ts', { cwd: root }).map(stem).sort();
  expect([...Object.values(leftOut).flat(), ...acceptanceFiles.map(stem)].sort()).toEqual(all);
});

it('the test clients are the demo data under ids and names that none of the demo data has', () => {
  const idsOf = (value: unknown): string[] =>
    [
      ...JSON.stringify(value).matchAll(
        /"(?:\w*client_ids?|waba_id|did|channel_id|campaign_ids?|username)":(\[[^\]]*\]|"[^"]*"|\d+)/g,
      ),
    ]
      .flatMap(([, ids = '']) => [...ids.matchAll(/[^\s",[\]]+/g)])
      .map(([id]) => id);
  const [given, standIns] = [idsOf(demo), idsOf(acceptanceFile)];
  expect(standIns).toHaveLength(given.length);
  expect(standIns.filter((id) => given.includes(id))).toEqual([]);
  expect(new Set(standIns).size).toBe(new Set(given).size);
});

it('nothing can be sent for them: no run provisions the credential of their WABAs, and they have no app', () => {
  expect(new Set(acceptanceFile.wabas.map(({ credential }) => credential))).toEqual(new Set(['acceptance-has-none']));
  expect([acceptanceFile.platform_credentials, acceptanceFile.platform_apps]).toEqual([[], []]);
});
