import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** One change of the code, the tests that should notice it, and whether they did when it was last recorded. */
export interface SampledMutant {
  readonly file: string;
  /** Whole lines that stand in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The quickest first: the first red test ends the run. */
  readonly tests: readonly string[];
  /** Only `false` is written down: the tests did not notice the mutant when it was recorded. */
  readonly noticed?: false;
}

const root = resolve(import.meta.dirname, '../..');
const sampleFile = join(root, 'test/mutation/sample.json');
/** A mutant that hangs its tests is noticed, as Stryker counts it. */
const limitsMs = { narrow: 150_000, contract: 400_000 } as const;

export function readSample(): SampledMutant[] {
  return JSON.parse(readFileSync(sampleFile, 'utf8')) as SampledMutant[];
}

/** Writes one mutant a line, so that a change of one is a change of one line. */
export function writeSample(mutants: readonly SampledMutant[]): void {
  writeFileSync(sampleFile, `[\n${mutants.map((mutant) => JSON.stringify(mutant)).join(',\n')}\n]\n`);
}

/** Returns the file's text with the mutant in it. Throws when what it replaces does not stand there exactly once. */
export function mutated({ file, find, replace }: SampledMutant, content: string): string {
  const parts = content.split(find);
  if (parts.length !== 2) throw new Error(`${file}: this stands ${parts.length - 1} times and not once:\n${find}`);
  return parts.join(replace);
}

/**
 * Tries mutants with one of the words in a path, or all, in two copies of the tree. Returns those that differ from the
 * record, which `record` renews. Throws when tests are red without a mutant.
 */
export async function runSample(words: readonly string[], record: boolean): Promise<SampledMutant[]> {
  const sample = readSample();
  const asked = sample.filter(
    ({ file, tests }) =>
      words.length === 0 || words.some((word) => [file, ...tests].some((path) => path.includes(word))),
  );
  const trees = [0, 1].map(copyOfTree);
  const tests = [...new Set(asked.flatMap((mutant) => mutant.tests))];
  const green = await isGreen(trees[0] ?? root, tests, { output: 'inherit', limitMs: 1_800_000 });
  if (!green) throw new Error('a test is red without a mutant, see above');
  const left = asked.toSorted((one, other) => Number(isContract(other)) - Number(isContract(one)));
  const noticed = new Map<SampledMutant, boolean>();
  await Promise.all(
    trees.map(async (tree) => {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const is = await isNoticed(tree, mutant);
        noticed.set(mutant, is);
        if (!is) console.log(`not noticed: ${mutant.file}\n-${mutant.find}\n+${mutant.replace}`);
        if (noticed.size % 20 === 0) console.log(`${noticed.size} of ${asked.length} tried`);
      }
    }),
  );
  for (const tree of trees) rmSync(tree, { recursive: true });
  console.log(`noticed ${[...noticed.values()].filter(Boolean).length} of ${asked.length}`);
  if (record) writeSample(sample.map((mutant) => withResult(mutant, noticed.get(mutant))));
  return asked.filter((mutant) => noticed.get(mutant) !== (mutant.noticed ?? true));
}

function withResult({ noticed, ...mutant }: SampledMutant, now = noticed ?? true): SampledMutant {
  return now ? mutant : { ...mutant, noticed: false };
}

const isContract = ({ tests }: Pick<SampledMutant, 'tests'>) => tests.some((test) => test.startsWith('test/contract/'));

async function isNoticed(tree: string, mutant: SampledMutant): Promise<boolean> {
  const path = join(tree, mutant.file);
  const content = readFileSync(path, 'utf8');
  writeFileSync(path, mutated(mutant, content));
  try {
    return !(await isGreen(tree, mutant.tests, {
      output: 'ignore',
      limitMs: isContract(mutant) ? limitsMs.contract : limitsMs.narrow,
    }));
  } finally {
    writeFileSync(path, content);
  }
}

/** Runs tests in a tree until the first is red. Its own process group ends with it, emulators and stacks included. */
async function isGreen(
  tree: string,
  tests: readonly string[],
  { output, limitMs }: { readonly output: 'ignore' | 'inherit'; readonly limitMs: number },
): Promise<boolean> {
  const child = spawn('vitest', ['run', '--bail', '1', '--config', 'test/mutation/vitest.config.ts'], {
    cwd: tree,
    stdio: output,
    detached: true,
    // Explorers take the part of npm test.
    env: { ...process.env, TEST_SUITE: 'quick', MUTATION_TESTS: JSON.stringify(tests) },
  });
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), limitMs);
  const code = await new Promise<number>((resolveCode) => {
    child.once('error', () => resolveCode(1));
    child.once('exit', (exitCode) => resolveCode(exitCode ?? 1));
  });
  clearTimeout(timer);
  return code === 0;
}

/** Copies what git knows and what is new, so that a mutant never stands in the developer's own files. */
function copyOfTree(number: number): string {
  const tree = join(root, 'dist/mutation', `sample-${number}`);
  rmSync(tree, { recursive: true, force: true });
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    copyFileSync(join(root, file), join(tree, file));
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}
