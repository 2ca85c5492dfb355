import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommandError } from '../../../infra/operate/command.ts';
import {
  findLocalStack,
  type LocalStack,
  noteLocalStack,
  runningLocalStack,
} from '../../../infra/operate/local-stacks.ts';

const noProcess = 2 ** 30;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'local-stacks-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function stackAt(port: number, pid = process.pid): LocalStack {
  return {
    pid,
    apiUrl: `http://127.0.0.1:${port}`,
    platformUrl: 'http://127.0.0.1:2',
    dynamodbEndpoint: 'http://127.0.0.1:3',
    sqsEndpoint: 'http://127.0.0.1:4',
    secretsEndpoint: 'http://127.0.0.1:5',
    region: 'us-east-1',
    stage: 'local',
    queueUrls: {},
    webhookReceiverPort: 6,
  };
}

/** Two stacks run, the second one started later. Their processes are this one and its parent, both alive. */
function twoStacks(): { readonly withdrawSecond: () => void } {
  noteLocalStack(stackAt(3000), folder);
  utimesSync(join(folder, `${process.pid}.json`), 1_000, 1_000);
  return { withdrawSecond: noteLocalStack(stackAt(4000, process.ppid), folder) };
}

describe('several local stacks', () => {
  it('stand side by side: the first stays found, and another one by its PORT', () => {
    twoStacks();
    expect(findLocalStack(folder, undefined)?.apiUrl).toBe('http://127.0.0.1:3000');
    expect(findLocalStack(folder, '0')?.apiUrl).toBe('http://127.0.0.1:3000');
    expect(findLocalStack(folder, '4000')?.apiUrl).toBe('http://127.0.0.1:4000');
    expect(findLocalStack(folder, '5000')).toBeUndefined();
  });

  it('remove only their own note', () => {
    twoStacks().withdrawSecond();
    expect(findLocalStack(folder, '4000')).toBeUndefined();
    expect(findLocalStack(folder, undefined)?.apiUrl).toBe('http://127.0.0.1:3000');
  });

  it('that were killed are not found, and the next one clears their note away', () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${noProcess}.json`), JSON.stringify(stackAt(3000, noProcess)));
    expect(findLocalStack(folder, undefined)).toBeUndefined();
    noteLocalStack(stackAt(4000), folder);
    expect(readdirSync(folder)).toEqual([`${process.pid}.json`]);
  });
});

it('a file that describes a running stack is followed; one that does not is a sentence and status 2', () => {
  const file = join(folder, 'one.json');
  writeFileSync(file, JSON.stringify(stackAt(3000)));
  expect(runningLocalStack(file)).toEqual(stackAt(3000));
  writeFileSync(file, JSON.stringify(stackAt(3000, noProcess)));
  for (const path of [file, join(folder, 'no-such-file')]) {
    const refuse = () => runningLocalStack(path);
    expect(refuse).toThrow(CommandError);
    expect(refuse).toThrow(expect.objectContaining({ exitStatus: 2, message: expect.stringContaining('npm start') }));
  }
});
