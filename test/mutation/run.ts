import { resolve } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { drawMutants } from './draw.ts';
import proofs from './proofs.json' with { type: 'json' };
import { runSample } from './sample.ts';

// With files, each is changed by every mutator of Stryker, its tests of proofs.json run, and survivors are listed;
// without, all files are, for hours. `--sample [--record] [WORD ...]` tries the fixed sample; `--draw SEED` prints
// mutants (README.md).
process.chdir(resolve(import.meta.dirname, '../..'));
if (process.argv[2] === '--draw') {
  console.log((await drawMutants(Number(process.argv[3]))).map((mutant) => JSON.stringify(mutant)).join('\n'));
  process.exit();
}
if (process.argv[2] === '--sample') {
  const words = process.argv.slice(3);
  const differing = await runSample(
    words.filter((word) => word !== '--record'),
    words.includes('--record'),
  );
  for (const { file, find, noticed } of differing) {
    console.log(`${noticed === false ? 'noticed now, and not before' : 'no longer noticed'}: ${file}: ${find.trim()}`);
  }
  process.exit(differing.some(({ noticed }) => noticed !== false) ? 1 : 0);
}
const testsOf = new Map<string, readonly string[]>(Object.entries(proofs));

/** A mutation that keeps a test file from loading is killed as well. Stryker calls it an error of the run. */
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

/** Tries one file, prints the survivors, and returns its row of the table. */
async function rowOf(file: string): Promise<string> {
  // The test runner loads vitest.config.ts in a process of its own, which reads this.
  process.env['MUTATION_TESTS'] = JSON.stringify(testsOf.get(file));
  const mutants = await new Stryker({
    mutate: [file],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    // Stryker cannot read the project's own file, which it has no reason to rewrite.
    tsconfigFile: 'none.json',
    // Two runners would start two pairs of emulators.
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
  // The score does not count these mutants.
  const untried = mutants.filter((mutant) => !(lived.includes(mutant) || died.includes(mutant)));
  for (const { location, mutatorName, replacement = '', status, statusReason } of [...lived, ...untried]) {
    const why = statusReason === undefined ? '' : ` (${status}: ${statusReason.split('\n')[0]})`;
    console.log(`${file}:${location.start.line}:${location.start.column} ${mutatorName}: ${replacement}${why}`);
  }
  const total = lived.length + died.length;
  const score = total === 0 ? 'none tried' : `${((100 * died.length) / total).toFixed(1)} %`;
  return `| \`${file}\` | ${total} | ${died.length} | ${lived.length} | ${score} |`;
}
