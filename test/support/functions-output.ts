import { readFileSync, statSync } from 'node:fs';
import { beforeEach, onTestFailed } from 'vitest';
import { addressOf } from './addresses.ts';

/* A contract test that fails prints the end of what the stack's functions logged meanwhile. Functions run in processes
   of their own, and their lines stand in a file. */

const shownBytes = 10_000;

beforeEach(() => {
  const file = addressOf('functionLog');
  const { size: sizeBefore } = statSync(file);
  onTestFailed(() => {
    const logged = readFileSync(file).subarray(sizeBefore).subarray(-shownBytes).toString();
    if (logged !== '') console.log(logged);
  });
});
