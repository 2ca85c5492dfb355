import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completionScript } from '../../infra/operate/completion.ts';
import { commands, ops, purposes } from '../../infra/operate/ops.ts';
import { runScript } from '../support/processes.ts';
import { firstUnlessThorough, thorough } from '../support/thorough.ts';

/*
 * Each line starts a process. The quick run has one of each kind, to show that a script checks its rule before it acts;
 * the other run has all. operate/ tests the rules themselves.
 */

/** The environment has none of the machine's credentials, region or profile. */
const bare = {
  ...Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined])),
  PATH: process.env['PATH'],
  HOME: '/nowhere',
  AWS_EC2_METADATA_DISABLED: 'true',
};

const identity =
  '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>';
const brokenStack =
  '<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackStatus>ROLLBACK_FAILED</StackStatus></member></Stacks></DescribeStacksResult></DescribeStacksResponse>';
const absent = JSON.stringify({ __type: 'ResourceNotFoundException', message: 'Requested resource not found' });

let aws: Server;
let reachable: Readonly<Record<string, string>>;
beforeAll(async () => {
  // The server answers with the account's identity, a broken stack, and an empty DynamoDB and Secrets Manager.
  aws = createServer(({ headers }, response) => {
    if (headers['x-amz-target'] !== undefined) {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(absent);
      return;
    }
    const asksForStack = headers.authorization?.includes('/cloudformation/') === true;
    response.writeHead(200, { 'content-type': 'text/xml' }).end(asksForStack ? brokenStack : identity);
  });
  await new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve));
  reachable = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(aws.address() as AddressInfo).port}`,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'some',
    AWS_SECRET_ACCESS_KEY: 'thing',
  };
});
afterAll(() => {
  aws.closeAllConnections();
  aws.close();
});

const programs: Readonly<Record<string, string>> = { ops: 'infra/operate/ops.ts', cdk: 'infra/cdk.ts' };

function run(line: string, environment: Readonly<Record<string, string>> = {}) {
  const [script = '', ...given] = line.split(' ');
  return runScript(programs[script] ?? script, { arguments: given, environment: { ...bare, ...environment } }).ended;
}

const period = '--client 1 --since 2026-10-01T12:00:00Z';
const onAws = [
  'ops provision none.json --stage prod',
  'ops rotate-keys --stage prod',
  `ops events list ${period} --stage prod`,
  'ops outcomes --dispatch 01ARZ3NDEKTSV4RRFFQ69G5FAV --stage prod',
  'cdk deploy -c stage=prod',
  'cdk deploy --diff -c stage=prod',
];

describe('a deployment whose options npm kept', () => {
  const kept: readonly (readonly [script: string, key: string, value: string])[] = [
    ['deploy', 'diff', 'true'],
    ['deploy', 'call', 'stage=prod'],
    ['deploy', 'profile', 'production'],
    ['synth', 'context', 'stage=prod'],
  ];
  it.each(firstUnlessThorough(kept))('%s with %s ends before anything is done', async (script, key, value) => {
    const left = { npm_lifecycle_event: script, [`npm_config_${key}`]: value };
    expect(await run(`cdk ${script}`, { ...reachable, ...left })).toEqual({
      code: 2,
      stdout: '',
      stderr: `Nothing was done: npm keeps options without "--" before them; write npm run ${script} -- ...\n`,
    });
  });
});

describe('a command says in one sentence', () => {
  it.each(firstUnlessThorough(onAws))('that no region is set: %s', async (line) => {
    const stderr = 'No AWS region is set: name one in AWS_REGION or in your AWS profile.\n';
    expect(await run(line)).toEqual({ code: 1, stdout: '', stderr });
  });

  it.each(thorough ? onAws : onAws.slice(-1))('that there are no credentials: %s', async (line) => {
    const { code, stdout, stderr } = await run(line, { AWS_REGION: 'eu-west-1' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^The AWS credentials cannot be used \(.+\): sign in again, or name a profile in AWS_PROFILE\.\n$/,
    );
  });

  it('that AWS cannot be reached', async () => {
    const { code, stderr } = await run('ops rotate-keys --stage prod', {
      ...reachable,
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'The server cannot be reached (connect ECONNREFUSED 127.0.0.1:9).\n',
    });
  });

  it.each(['ops rotate-keys', 'test/bench/cost.ts'])('that an option of %s is unknown', async (line) => {
    const stderr = "Unknown option '--stagee'; --help tells the options.\n";
    expect(await run(`${line} --stagee prod`)).toEqual({ code: 2, stdout: '', stderr });
  });
});

const printed = async (...typed: string[]) => {
  const lines: string[] = [];
  await ops(typed, (text) => void lines.push(text));
  return lines.join('\n');
};

describe('infra/ops', () => {
  it('lists every command by its purpose, on 80 columns', async () => {
    const text = await printed('--help');
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    for (const purpose of Object.keys(purposes)) expect(text).toContain(`\n${purpose}\n`);
    for (const { name, summary } of commands)
      expect(text).toMatch(new RegExp(`^ {2}${name} +${summary.slice(0, 20)}`, 'm'));
    expect(await printed('events', '--help')).toContain('events listen');
  });

  it.each(commands.map(({ name }) => name))(
    '%s --help: usage, what it does, its options, on 80 columns',
    async (name) => {
      const text = await printed(...name.split(' '), '--help');
      expect(text).toMatch(
        new RegExp(`^usage: infra/ops ${name}[\\s\\S]*\\n\\n[A-Z][\\s\\S]*\\n {2}-h, --help +this text$`),
      );
      // An address or a sentence in brackets is not broken.
      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(text).not.toContain('npm run');
    },
  );

  it.each([
    ['outcome', 'did you mean outcomes?'],
    ['events lsten', 'did you mean events listen?'],
    ['eventz', 'did you mean events?'],
    ['nothing-like-it', 'infra/ops --help lists all'],
    ['constructor', 'infra/ops --help lists all'],
  ])('proposes what is near to %s, and ends with 2', async (typed, hint) => {
    const error = await printed(...typed.split(' ')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ exitStatus: 2, message: `There is no command ${typed}; ${hint}` });
  });

  it.each(['', 'events'])('without a command (%j) it lists them, and ends with 2', async (typed) => {
    const error = await printed(...typed.split(' ')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ exitStatus: 2, message: expect.stringContaining('events replay') });
  });

  it('is an executable file that starts in any folder, with its arguments whole', () => {
    const file = join(import.meta.dirname, '../../infra/ops');
    const { status, stdout, stderr } = spawnSync(file, ['explain', '409 and more', '--json'], {
      cwd: tmpdir(),
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('409 and more is not a code');
  });

  const completing = { bash: ['--norc'], zsh: ['-f'] } as const;
  it.each(['bash', 'zsh'] as const)('completes commands, their second words and options in %s', async (shell) => {
    if (spawnSync(shell, ['--version']).status !== 0) return;
    const script = await completionScript(shell, commands);
    const probe = shell === 'bash' ? bashProbe : zshProbe;
    const completed = (...words: string[]) => {
      const { stdout, stderr } = spawnSync(shell, [...completing[shell], '-c', probe(script, words)], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return stdout.trim().split(/\s+/);
    };
    expect(completed('infra/ops', '')).toEqual([...new Set(commands.map(({ name }) => name.split(' ')[0]))]);
    expect(completed('infra/ops', 'events', '')).toEqual(['list', 'replay', 'listen', 'trigger']);
    expect(completed('infra/ops', 'events', 'replay', '--')).toContain('--id');
    expect(completed('infra/ops', 'erase', '--')).toEqual(expect.arrayContaining(['--recipient', '--yes', '--stage']));
    expect(completed('infra/ops', 'erase', '--recipient', '1', '--')).toContain('--yes');
  });
});

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');
const bashProbe = (script: string, words: readonly string[]) =>
  `${script}\nCOMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _infra_ops; echo "\${COMPREPLY[@]}"`;
/** Outside its line editor zsh has no \`compadd\`. */
const zshProbe = (script: string, words: readonly string[]) =>
  `compdef() { : }; compadd() { shift; print -- $@ }\n${script}\nwords=(${quoted(words)}); CURRENT=${words.length}; _infra_ops`;

describe('explain', () => {
  it('says what a code means, whose fault it is and what to do', async () => {
    expect(await run('ops explain worker_lost')).toEqual({
      code: 0,
      stderr: '',
      stdout: `worker_lost: The worker that sent it died (code of a message that is unknown)
  cause    The worker ended between its call of the platform and the record of what came of it.
  fault    the service
  retry    never while unknown (D57)
  to do    Wait: a receipt settles it; it is not sent again by itself, and an operator may settle it by hand (infra/ops outcomes --resolve).
  more     functions/README.md#get-v1templatemessagesdiddispatchid
`,
    });
  });

  it.each([
    ['worker_lots', 'is not a code, a state or a kind of event of this service; did you mean worker_lost?'],
    ['13102', 'of this service; did you mean 131021, 131026, 131042, 131052, 131062?'],
    ['something_else_entirely', 'is not a code, a state or a kind of event of this service'],
    ['999999', 'of this service; go by the text that the platform gave with it (message, reason)'],
    ['409', 'is a status; the service answers it with a code: template_disabled, sync_in_progress'],
  ])('ends with 1 for %s, with what is near', async (given, hint) => {
    const error = await printed('explain', given).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ exitStatus: 1, message: expect.stringContaining(hint) });
  });
});

it('openapi writes nothing when it is asked for help', async () => {
  const { mtimeMs } = statSync('functions/openapi.json');
  expect(await run('infra/openapi/write.ts --help')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: npm run openapi\n/),
  });
  expect(await run('infra/openapi/write.ts --chek')).toMatchObject({ code: 2, stdout: '' });
  expect(statSync('functions/openapi.json').mtimeMs).toBe(mtimeMs);
});

describe('doctor on AWS', () => {
  const doctor = (environment = {}) => run('ops check --stage prod', environment);

  it('stops at credentials that are none, with the remedy', async () => {
    const { code, stdout, stderr } = await doctor({ AWS_REGION: 'eu-west-1' });
    expect(stdout).toMatch(/^✗ credentials and region: The AWS credentials cannot be used/);
    expect(stdout).toMatch(/\n0 good, 1 bad\n$/);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'Not all is well.\n' });
  });
});

describe('a command on AWS', () => {
  const named = 'stage prod, account 123456789012, region eu-west-1\n';

  it('names its target before it finds out that no such stage is there', async () => {
    const { code, stderr } = await run(`ops events list ${period} --stage prod`, reachable);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${named}There is no such stage in this account and region (Requested resource not found): check --stage, AWS_PROFILE and AWS_REGION.\n`,
    });
  });

  it('does not deploy over a stack that only its operator can mend', async () => {
    const { code, stderr } = await run('cdk deploy -c stage=prod', reachable);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${named}The stack template-messaging-prod-stateful is in a state that no deployment gets it out of (ROLLBACK_FAILED): infra/RECOVERY.md says what to do.\n`,
    });
  });

  it("finds a file from its caller's folder", async () => {
    const line = 'ops provision none.json --stage prod';
    const { stderr } = await run(line, { ...reachable, INIT_CWD: tmpdir() });
    expect(stderr).toBe(`${named}There is no file ${join(tmpdir(), 'none.json')}.\n`);
  });
});
