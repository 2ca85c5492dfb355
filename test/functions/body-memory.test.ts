import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { functions } from '../../infra/functions.ts';

// A body that ends a function ends it for all callers (D6), so each kind of route reads its worst body in a process of
// its own.

const script = join(import.meta.dirname, '../support/body-memory.ts');

test.each<[operation: string, body: string, bytes: number, status: number]>([
  ['messages-send', 'two million empty objects', 5_900_000, 400],
  ['messages-send', 'empty objects and an escape', 5_900_000, 400],
  ['messages-send', 'empty objects for recipients', 5_900_000, 400],
  ['messages-send', 'unknown fields', 5_900_000, 400],
  ['messages-send', 'unknown fields of attends', 5_900_000, 400],
  ['messages-send', 'unknown fields of every recipient', 5_900_000, 400],
  ['messages-send', 'lists that stay open', 5_900_000, 400],
  ['templates-create', 'empty objects for components', 1_000_000, 400],
  ['templates-create', 'unknown fields of a component', 1_000_000, 400],
  ['templates-edit', 'two million empty objects', 1_000_000, 400],
  ['templates-status', 'empty lists for templates', 250_000, 400],
  ['templates-status', 'two million empty objects', 5_900_000, 413],
  ['channel-campaigns-replace', 'empty objects for pairs', 60_000, 400],
  ['webhook-config-put', 'two million empty objects', 5_900_000, 413],
])(
  '%s: %s, %i bytes, take less than half of its memory',
  { timeout: 120_000 },
  (operation, bodyName, bytes, status) => {
    const child = spawnSync(process.execPath, [script, operation, bodyName, String(bytes)], { encoding: 'utf8' });
    expect(child.stderr).toBe('');
    const { statusCode, grownMb } = JSON.parse(child.stdout.split('\n').at(-1) ?? '') as Record<string, number>;
    expect(statusCode).toBe(status);
    expect(grownMb).toBeLessThan((functions[operation]?.memoryMb ?? 0) / 2);
  },
);
