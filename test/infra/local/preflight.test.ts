import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { dynoxideProgram } from '../../../infra/local/dynamodb.ts';
import { chosenDynamoDb, originsFrom, portFrom, whyNoJava } from '../../../infra/local/preflight.ts';
import { leftOut, runnableProjects } from '../../support/engines.ts';

const hasDynoxide = dynoxideProgram() !== undefined;

beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', undefined);
  vi.stubEnv('PATH', '/nowhere');
});
afterEach(() => vi.unstubAllEnvs());

describe('the DynamoDB of a stack', () => {
  it('is a running server when one is named, and then nothing else may be', () => {
    const endpoint = 'http://127.0.0.1:8000';
    expect(chosenDynamoDb({ AWS_ENDPOINT_URL_DYNAMODB: endpoint, DATA: '', DYNAMODB: '' })).toEqual({ endpoint });
    expect(() => chosenDynamoDb({ AWS_ENDPOINT_URL_DYNAMODB: endpoint, DATA: 'x' })).toThrow(
      /^DATA and AWS_ENDPOINT_URL_DYNAMODB exclude each other: a server that runs already keeps its own tables\.$/,
    );
    expect(() => chosenDynamoDb({ AWS_ENDPOINT_URL_DYNAMODB: endpoint, DYNAMODB: 'local' })).toThrow(/^DYNAMODB and/);
  });

  it.runIf(hasDynoxide)('is Dynoxide without being asked for, and needs no Java', () => {
    expect(whyNoJava()).toBe('Java was not found');
    expect(chosenDynamoDb({})).toEqual({ engine: 'dynoxide' });
    expect(chosenDynamoDb({ DYNAMODB: 'dynoxide' })).toEqual({ engine: 'dynoxide' });
  });

  it('is DynamoDB Local when asked for, if there is Java', () => {
    expect(() => chosenDynamoDb({ DYNAMODB: 'local' })).toThrow(
      'Java was not found: DynamoDB Local needs Java 17 or newer on the PATH (or set AWS_ENDPOINT_URL_DYNAMODB to a running server).',
    );
  });

  it('is no other', () => {
    expect(() => chosenDynamoDb({ DYNAMODB: 'Local' })).toThrow('DYNAMODB must be dynoxide or local, not "Local".');
  });

  it.runIf(hasDynoxide)('keeps its tables in a folder as its user means it: from where npm was called', () => {
    vi.stubEnv('INIT_CWD', '/some/where');
    expect(chosenDynamoDb({ DATA: 'kept' })).toEqual({ engine: 'dynoxide', dataFolder: join('/some/where', 'kept') });
  });
});

it.each(['70000', '-1', '3000.5'])('%s is no port', (text) => {
  expect(() => portFrom('PORT', text, 3_000)).toThrow(
    `PORT must be a port number from 0 (any free one) to 65535, not "${text}".`,
  );
});

describe('the pages that may call the API', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['*', ['*']],
    ['https://app.example.com, http://app.test:5173', ['https://app.example.com', 'http://app.test:5173']],
  ])('are those of %j', (text, origins) => {
    expect(originsFrom('CORS_ORIGINS', text)).toEqual(origins);
  });

  it.each([
    ['app.example.com', 'app.example.com'],
    ['https://app.example.com,', ''],
    ['https://app.example.com/', 'https://app.example.com/'],
    ['https://App.example.com', 'https://App.example.com'],
    ['https://app.example.com,*', '*'],
    ['https://*.example.com', 'https://*.example.com'],
    ['null', 'null'],
  ])('are none of %s: a sentence says which', (text, wrong) => {
    expect(() => originsFrom('CORS_ORIGINS', text)).toThrow(
      `CORS_ORIGINS must be origins apart by commas, such as https://app.example.com,http://app.test:5173 (lower case, no path, no slash at the end), or * alone; ${JSON.stringify(wrong)} is none.`,
    );
  });
});

describe('the adapter tests', () => {
  it.runIf(hasDynoxide)('run on Dynoxide alone where there is no Java, and one line says so', () => {
    expect(runnableProjects()).toEqual({ 'adapters-dynoxide': 'dynoxide' });
    expect(leftOut()).toBe(
      'left out: the adapter tests on DynamoDB Local: Java was not found, and it needs 17 or newer.',
    );
  });

  it('run once on a server that runs already', () => {
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:8000');
    expect(runnableProjects()).toEqual({ adapters: 'local' });
    expect(leftOut()).toBeUndefined();
  });
});
