import { resolve } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import proofs from './proofs.json' with { type: 'json' };

// `npm run mutation -- FILE ...`: changes each named file in every way that Stryker knows, runs the tests that are to prove
// it, and lists the changes that they let through. Without a name: all of proofs.json, for hours. What was tried before and
// has not changed since is not tried again, unless with `--anew`.
process.chdir(resolve(import.meta.dirname, '../..'));
const testsOf = new Map<string, readonly string[]>(Object.entries(proofs));

/** A test file that a change keeps from being read is red as well. To Stryker it is an error of its run. */
const ofTestFile = /^An error occurred outside of a test run: \S+\.test\.ts: /;

const given = process.argv.slice(2);
const asked = given.filter((word) => word !== '--anew');
const strangers = asked.filter((file) => !testsOf.has(file));
if (strangers.length > 0) {
  console.error(`test/mutation/proofs.json does not say which tests prove ${strangers.join(', ')}`);
  process.exit(2);
}
const rows: string[] = [];
for (const file of asked.length === 0 ? testsOf.keys() : asked) rows.push(await rowOf(file));
console.log(['| File | Mutants | Noticed | Survived | Score |', '|---|---|---|---|---|', ...rows].join('\n'));

/** Tries one file, prints what survived, and returns its row of the table. */
async function rowOf(file: string): Promise<string> {
  // For vitest.config.ts, which the test runner loads in a process of its own.
  process.env['MUTATION_TESTS'] = JSON.stringify(testsOf.get(file));
  const mutants = await new Stryker({
    mutate: [file],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    // There is nothing to rewrite in the project's own, and Stryker cannot read it.
    tsconfigFile: 'none.json',
    // Two would start two pairs of emulators.
    concurrency: 1,
    timeoutMS: 20_000,
    tempDirName: 'dist/mutation/sandbox',
    ignorePatterns: ['dist', 'cdk.out', 'coverage'],
    reporters: ['progress-append-only'],
    allowConsoleColors: false,
    incremental: true,
    force: given.includes('--anew'),
    incrementalFile: `dist/mutation/${file}.json`,
  }).runMutationTest();
  const lived = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const died = mutants.filter(
    ({ status, statusReason = '' }) => status === 'Killed' || status === 'Timeout' || ofTestFile.test(statusReason),
  );
  // Counted nowhere: a score says nothing of them.
  const untried = mutants.filter((mutant) => !(lived.includes(mutant) || died.includes(mutant)));
  for (const { location, mutatorName, replacement = '', status, statusReason } of [...lived, ...untried]) {
    const why = statusReason === undefined ? '' : ` (${status}: ${statusReason.split('\n')[0]})`;
    console.log(`${file}:${location.start.line}:${location.start.column} ${mutatorName}: ${replacement}${why}`);
  }
  const total = lived.length + died.length;
  const score = total === 0 ? 'none tried' : `${((100 * died.length) / total).toFixed(1)} %`;
  return `| \`${file}\` | ${total} | ${died.length} | ${lived.length} | ${score} |`;
}
