import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import proofs from './proofs.json' with { type: 'json' };
import type { SampledMutant } from './sample.ts';

const root = resolve(import.meta.dirname, '../..');
const silent = { isDebugEnabled: () => false, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * The drawn part of the sample: so many mutants of files that `proofs.json` names, and so many of other files of `lib`.
 */
const drawn = { ofProofs: 300, ofOthers: 60 } as const;

/**
 * Draws mutants of Stryker with a seed: the same seed and the same code give the same mutants. Those of `proofs.json`
 * have its tests; those of other files of `lib` have the tests that import the file.
 */
export async function drawMutants(seed: number): Promise<SampledMutant[]> {
  const testsOf = new Map<string, readonly string[]>(Object.entries(proofs));
  const others = new Map(
    globSync('lib/**/*.ts', { cwd: root })
      .filter((file) => !testsOf.has(file))
      .map((file) => [file, testsThatImport(file)] as const)
      .filter(([, tests]) => tests.length > 0),
  );
  const random = randomOf(seed);
  return [
    ...picked(await mutantsOf(testsOf), drawn.ofProofs, random),
    ...picked(await mutantsOf(others), drawn.ofOthers, random),
  ];
}

async function mutantsOf(testsOf: ReadonlyMap<string, readonly string[]>): Promise<SampledMutant[]> {
  // The instrumenter's own logger is a part of Stryker's run, which this is not.
  const instrumenter = new Instrumenter(silent as unknown as ConstructorParameters<typeof Instrumenter>[0]);
  const all: SampledMutant[] = [];
  for (const [file, tests] of [...testsOf].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const content = readFileSync(join(root, file), 'utf8');
    const { mutants } = await instrumenter.instrument([{ name: file, content, mutate: true }], {
      plugins: null,
      excludedMutations: [],
      ignorers: [],
      noHeader: true,
    } as unknown as Parameters<Instrumenter['instrument']>[1]);
    for (const { location, replacement } of mutants) {
      const change = asText(content, location.start, location.end, replacement);
      if (change !== undefined) all.push({ file, ...change, tests: [...tests] });
    }
  }
  return all;
}

type Position = { readonly line: number; readonly column: number };

/** Returns whole lines before and after a mutation, with as many lines in front as make them unique in the file. */
function asText(content: string, start: Position, end: Position, replacement: string) {
  const lines = content.split('\n');
  const within = [lines[start.line]?.slice(0, start.column), lines[end.line]?.slice(end.column)];
  for (let first = start.line; first >= Math.max(0, start.line - 8); first -= 1) {
    const find = lines.slice(first, end.line + 1).join('\n');
    if (content.split(find).length !== 2) continue;
    const replace = [...lines.slice(first, start.line), `${within[0]}${replacement}${within[1]}`].join('\n');
    return { find, replace };
  }
  return undefined;
}

/** Finds the quickest three unit or adapter tests that import a file of `lib`; those with its own name come first. */
function testsThatImport(file: string): string[] {
  const folder = join(root, 'test', dirname(file));
  const stem = basename(file, '.ts');
  const tests = existsSync(folder) ? globSync('*.test.ts', { cwd: folder }) : [];
  const importing = tests.filter((test) => readFileSync(join(folder, test), 'utf8').includes(`${file}'`));
  return importing
    .filter((test) => !test.includes('explorer') && !test.endsWith('.queue.test.ts'))
    .toSorted((one, other) => Number(other.startsWith(`${stem}.`)) - Number(one.startsWith(`${stem}.`)))
    .slice(0, 3)
    .map((test) => join('test', dirname(file), test));
}

function picked<Item>(items: readonly Item[], count: number, random: () => number): Item[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

/** Returns the generator mulberry32, which has good randomness from 32 bits of seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
