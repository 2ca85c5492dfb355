import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { checkConcurrency, endpointConcurrency } from '../../infra/concurrency.ts';
import type { FunctionShape } from '../../infra/function-shapes/shape.ts';
import { functions } from '../../infra/functions.ts';
import { settingsFrom } from '../../infra/settings.ts';
import { synthesize } from '../support/synthesized.ts';

const shape = { timeoutSeconds: 1, memoryMb: 128 };
const consumes = { queue: 'sync', batchSize: 1, maximumConcurrency: 30 } as const;
const shapes: Readonly<Record<string, FunctionShape>> = {
  endpoint: shape,
  authorizer: { ...shape, reservedConcurrency: 'authorizerReservedConcurrency' },
  worker: { ...shape, consumes },
  dispatcher: {
    ...shape,
    consumes: { ...consumes, maximumConcurrency: 'dispatchMaximumConcurrency' },
    reservedConcurrency: 'dispatchReservedConcurrency',
  },
};

function check(context: Readonly<Record<string, number>>): void {
  checkConcurrency(shapes, settingsFrom(new App({ context }).node));
}

const numbers = {
  authorizerReservedConcurrency: 20,
  dispatchMaximumConcurrency: 40,
  dispatchReservedConcurrency: 50,
  accountConcurrency: 20 + 50 + 30 + endpointConcurrency,
};

describe('what the account has', () => {
  it('is enough to the last one', () => {
    expect(() => check(numbers)).not.toThrow();
  });

  it.each([
    ['reserved', { authorizerReservedConcurrency: 21 }],
    ['reserved', { dispatchReservedConcurrency: 51 }],
    ['in the account', { accountConcurrency: 199 }],
  ])('is not enough with one more or less %s', (_, change) => {
    expect(() => check({ ...numbers, ...change })).toThrow(
      /^the context value accountConcurrency is \d+, and \d+ are needed: \d+ reserved, 30 for .+, 100 for the endpoints; [^.]+$/,
    );
  });

  it('is 1,000 unless told, which the defaults leave room in', () => {
    const settings = settingsFrom(new App().node);
    expect(() => checkConcurrency(functions, settings)).not.toThrow();
    expect(() => checkConcurrency(functions, { ...settings, accountConcurrency: 400 })).toThrow('are needed');
  });
});

describe('a share of its own', () => {
  it('is as large as the number of workers, unless told', () => {
    const { dispatchReservedConcurrency } = settingsFrom(new App({ context: { dispatchMaximumConcurrency: 70 } }).node);
    expect(dispatchReservedConcurrency).toBe(70);
  });

  it('is never smaller than the number of workers that the queue may start', () => {
    expect(() => check({ ...numbers, dispatchReservedConcurrency: 40 })).not.toThrow();
    expect(() => check({ ...numbers, dispatchReservedConcurrency: 39 })).toThrow(
      'the context value dispatchReservedConcurrency is 39, and the queue of dispatcher may start 40 workers',
    );
  });
});

it('is looked at by every synthesis', () => {
  expect(() => synthesize({ dispatchMaximumConcurrency: 900 })).toThrow('the context value accountConcurrency is 1000');
  expect(() => synthesize({ dispatchReservedConcurrency: 199 })).toThrow('may start 200 workers');
});
