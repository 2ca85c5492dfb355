import { expect, test } from 'vitest';
import {
  changedConfig,
  forgetsFailures,
  rotationOverlapMs,
  validSecrets,
  type WebhookConfig,
} from '../../../../lib/webhooks/config/config.ts';
import { configView } from '../../../../lib/webhooks/config/config-view.ts';
import { troubleOf } from '../../../../lib/webhooks/config/trouble.ts';

const nowMs = 1_800_000_000_000;
const stored: WebhookConfig = {
  clientId: 1001,
  url: 'https://hooks.example.com/a',
  active: true,
  secrets: [{ sealed: 'first', createdAtMs: 1 }],
  version: 4,
  updatedAtMs: 1,
};
const switchedOff: WebhookConfig = { ...stored, active: false, disabledReason: 'gone', disabledAtMs: 7 };
const change = { clientId: 1001, url: stored.url, nowMs };

test.each([
  ['first PUT, absent', undefined, undefined, true],
  ['first PUT, false', undefined, false, false],
  ['on, absent', stored, undefined, true],
  ['on, false', stored, false, false],
  ['off, absent', switchedOff, undefined, false],
  ['off, true', switchedOff, true, true],
])('active: %s (D33)', (_, before, active, expected) => {
  expect(changedConfig(before, { ...change, active }, { sealed: 'new', createdAtMs: nowMs }).active).toBe(expected);
});

test.each([
  ['never chosen', stored, undefined, undefined],
  ['chosen at first', undefined, ['message.read'], ['message.read']],
  ['chosen later', stored, ['message.read'], ['message.read']],
  ['unchanged', { ...stored, events: ['message.read'] }, undefined, ['message.read']],
  ['changed', { ...stored, events: ['message.read'] }, ['sync.completed'], ['sync.completed']],
  ['none', { ...stored, events: ['message.read'] }, [], []],
])('events: %s (D41)', (_, before, events, expected) => {
  const config = changedConfig(before, { ...change, events }, { sealed: 'new', createdAtMs: nowMs });
  expect(config.events).toEqual(expected);
  expect(configView(config).events).toEqual(expected);
});

const failing = { consecutiveFailures: 3, failingSinceMs: nowMs };
const since = new Date(nowMs).toISOString();

test.each([
  ['well', stored, { consecutiveFailures: 0 }, undefined],
  ['nothing noted yet', stored, undefined, undefined],
  ['failing', stored, failing, { state: 'failing', since, failures: 3 }],
  [
    'switched off by the service',
    { ...switchedOff, disabledAtMs: nowMs },
    failing,
    { state: 'switched_off', since, reason: 'gone' },
  ],
  ['switched off by the client', { ...stored, active: false }, failing, undefined],
])('trouble of a receiver: %s (D34)', (_, config, failures, expected) => {
  expect(troubleOf(config, failures)).toEqual(expected);
});

test('every write is the next version of the configuration', () => {
  expect(changedConfig(undefined, change, { sealed: 'new', createdAtMs: nowMs })).toMatchObject({
    version: 1,
    updatedAtMs: nowMs,
  });
  expect(changedConfig(stored, change, undefined)).toMatchObject({ version: 5, updatedAtMs: nowMs });
});

test('why the service switched off stays until the client says itself what active is to be', () => {
  expect(changedConfig(switchedOff, change, undefined)).toMatchObject({ disabledReason: 'gone', disabledAtMs: 7 });
  for (const active of [true, false]) {
    const config = changedConfig(switchedOff, { ...change, active }, undefined);
    expect([config.disabledReason, config.disabledAtMs]).toEqual([undefined, undefined]);
  }
});

test('a replaced secret signs for 24 hours beside the new one, to the millisecond (D34)', () => {
  const { secrets } = changedConfig(stored, change, { sealed: 'second', createdAtMs: nowMs });
  const valid = (atMs: number) => validSecrets(secrets, atMs).map(({ sealed }) => sealed);
  expect(valid(nowMs)).toEqual(['second', 'first']);
  expect(valid(nowMs + rotationOverlapMs - 1)).toEqual(['second', 'first']);
  expect(valid(nowMs + rotationOverlapMs)).toEqual(['second']);
});

test('a rotation while one is under way leaves two secrets, the new one and the one before it', () => {
  const once = changedConfig(stored, change, { sealed: 'second', createdAtMs: nowMs });
  const twice = changedConfig(once, { ...change, nowMs: nowMs + 1 }, { sealed: 'third', createdAtMs: nowMs + 1 });
  expect(twice.secrets).toEqual([
    { sealed: 'third', createdAtMs: nowMs + 1 },
    { sealed: 'second', createdAtMs: nowMs, validUntilMs: nowMs + 1 + rotationOverlapMs },
  ]);
});

test('a later PUT drops a secret that signs no more', () => {
  const once = changedConfig(stored, change, { sealed: 'second', createdAtMs: nowMs });
  const later = changedConfig(once, { ...change, nowMs: nowMs + rotationOverlapMs }, undefined);
  expect(later.secrets.map(({ sealed }) => sealed)).toEqual(['second']);
});

test.each([
  ['a first configuration', undefined, stored, false],
  ['nothing new', stored, stored, false],
  ['switched off', stored, switchedOff, false],
  ['another address', stored, { ...stored, url: 'https://hooks.example.com/b' }, true],
  ['switched on again', switchedOff, stored, true],
  ['another address while off', switchedOff, { ...switchedOff, url: 'https://hooks.example.com/b' }, false],
])('failures so far are forgotten or not: %s', (_, before, after, expected) => {
  expect(forgetsFailures(before, after)).toBe(expected);
});
