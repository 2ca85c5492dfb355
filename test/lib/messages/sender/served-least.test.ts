import { expect, test } from 'vitest';
import { ServedLeast } from '../../../../lib/messages/sender/served-least.ts';

test('the least served is next, and a newcomer before those who were served as little (D45)', () => {
  const served = new ServedLeast();
  expect(served.ordered(['a', 'b'])[0]).toBe('a');
  served.serve('a', 10);
  expect(served.ordered(['a', 'b'])[0]).toBe('b');
  served.serve('b', 10);
  expect(served.ordered(['a', 'b', 'new'])[0]).toBe('new');
  served.serve('new', 10);
  expect(served.ordered(['a', 'b', 'new'])[0]).toBe('a');
});

test('one that comes back makes up for nothing that it missed', () => {
  const served = new ServedLeast();
  served.ordered(['a', 'b']);
  served.ordered(['a']);
  served.serve('a', 1_000);
  expect(served.ordered(['a', 'b'])[0]).toBe('b');
  served.serve('b', 10);
  expect(served.ordered(['a', 'b'])[0]).toBe('a');
});

test('the next sender knows the differences', () => {
  const served = new ServedLeast({ a: 30, b: 10 });
  served.ordered(['a', 'b']);
  served.serve('b', 30);
  expect(served.service).toEqual({ a: 0, b: 10 });
});

test('a newcomer is one until it is served, and no longer because it has paused (D45)', () => {
  const served = new ServedLeast();
  served.ordered(['a', 'b']);
  expect(served.isNewcomer('a')).toBe(false);
  served.serve('a', 20);
  served.serve('b', 20);
  served.ordered(['a', 'b', 'new']);
  expect(served.isNewcomer('new')).toBe(true);
  served.serve('new', 10);
  expect(served.isNewcomer('new')).toBe(false);
  served.ordered(['a', 'b']);
  served.serve('new', 10);
  served.ordered(['a', 'b', 'new']);
  expect(served.isNewcomer('new')).toBe(false);
});
