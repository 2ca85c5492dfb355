import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lineWithSwallowedOptions } from '../../../infra/operate/npm-options.ts';

const folder = mkdtempSync(join(tmpdir(), 'npmrc-'));
afterAll(() => rmSync(folder, { recursive: true }));

const options = [
  { name: 'stage', takesValue: true },
  { name: 'allow-removals', takesValue: true },
  { name: 'dry-run', takesValue: false },
  { name: 'context', short: 'c', takesValue: true },
];
const line = (given: readonly string[], left: Readonly<Record<string, string>>) =>
  lineWithSwallowedOptions(options, given, { npm_lifecycle_event: 'provision', ...left });

describe('options that npm kept', () => {
  // npm 10 and npm 11 set this environment.
  it.each([
    ['provision FILE --dry-run', ['FILE'], { npm_config_dry_run: 'true' }, 'FILE --dry-run'],
    ['provision FILE --stage=prod', ['FILE'], { npm_config_stage: 'prod' }, 'FILE --stage prod'],
    ['provision FILE --stage prod', ['FILE', 'prod'], { npm_config_stage: 'true' }, 'FILE --stage prod'],
    ['provision --allow-removals=3', [], { npm_config_allow_removals: '3' }, '--allow-removals 3'],
    ['provision --stage', [], { npm_config_stage: 'true' }, '--stage VALUE'],
    ['provision -c stage=prod', [], { npm_config_call: 'stage=prod' }, '-c stage=prod'],
    ['provision --context stage=prod', ['stage=prod'], { npm_config_context: 'true' }, '--context stage=prod'],
    [
      'provision FILE --stage prod --allow-removals 3',
      ['FILE', 'prod', '3'],
      { npm_config_stage: 'true', npm_config_allow_removals: 'true' },
      'FILE --stage prod --allow-removals 3',
    ],
    ['provision "my file" --dry-run', ['my file'], { npm_config_dry_run: 'true' }, "'my file' --dry-run"],
  ])('npm run %s', (_typed, given, left, meant) => {
    expect(line(given, left)).toBe(`npm run provision -- ${meant}`);
  });

  it('are none when nothing of the command is left, or npm did not start it', () => {
    expect(line(['FILE', '--dry-run'], { npm_config_yes: '', npm_config_cache: '/x', npm_config_dry_run: '' })).toBe(
      undefined,
    );
    expect(lineWithSwallowedOptions(options, ['FILE'], { npm_config_dry_run: 'true' })).toBe(undefined);
  });

  it('are not what an .npmrc says, unless something else was typed', () => {
    writeFileSync(join(folder, '.npmrc'), '; a comment\ndry-run = true\nstage=dev\n');
    for (const place of [{ npm_config_local_prefix: folder }, { npm_config_userconfig: join(folder, '.npmrc') }]) {
      expect(line(['FILE'], { ...place, npm_config_dry_run: 'true', npm_config_stage: 'dev' })).toBe(undefined);
      expect(line(['FILE'], { ...place, npm_config_stage: 'prod' })).toBe('npm run provision -- FILE --stage prod');
    }
  });
});
