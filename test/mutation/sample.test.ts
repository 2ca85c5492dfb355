import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { mutated, readSample } from './sample.ts';

const root = resolve(import.meta.dirname, '../..');
const sample = readSample();

test('the sample has 400 different mutants', () => {
  expect(new Set(sample.map(({ file, find, replace }) => JSON.stringify([file, find, replace]))).size).toBe(400);
});

test('what each mutant replaces stands once in its file, and its tests exist', () => {
  const wrong = sample.flatMap((mutant) => {
    const missing = mutant.tests.filter((name) => !existsSync(join(root, name)));
    if (missing.length > 0) return [`${mutant.file}: ${missing.join(', ')} is missing`];
    try {
      mutated(mutant, readFileSync(join(root, mutant.file), 'utf8'));
      return [];
    } catch (error) {
      return [String(error)];
    }
  });
  expect(wrong).toEqual([]);
});
