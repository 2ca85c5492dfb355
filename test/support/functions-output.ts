import { readFileSync, statSync } from 'node:fs';
import { beforeEach, onTestFailed } from 'vitest';
import { addressOf } from './addresses.ts';

/*
 * Set-up of the contract tests: what the functions of the stack logged during a test is shown when it fails, its end at
 * least. Functions run in processes of their own, whose lines stand in a file.
 */

const shownBytes = 10_000;

beforeEach(() => {
  const file = addressOf('functionLog');
  const { size: sizeBefore } = statSync(file);
  onTestFailed(() => {
    const logged = readFileSync(file).subarray(sizeBefore).subarray(-shownBytes).toString();
    if (logged !== '') console.log(logged);
  });
});
