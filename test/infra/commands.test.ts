import { statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

function run(line: string, environment: Readonly<Record<string, string>> = {}) {
  const [script = '', ...given] = line.split(' ');
  return runScript(`infra/${script}`, { arguments: given, environment: { ...bare, ...environment } }).ended;
}

const period = '--client 1 --since 2026-10-01T12:00:00Z';
const onAws = [
  'operate/provision.ts none.json --stage prod',
  'operate/rotate-keys.ts --stage prod',
  `operate/events.ts list ${period} --stage prod`,
  'operate/outcomes.ts --dispatch 01ARZ3NDEKTSV4RRFFQ69G5FAV --stage prod',
  'cdk.ts deploy -c stage=prod',
  'cdk.ts diff -c stage=prod',
];

describe('an option that npm kept', () => {
  const lines: readonly (readonly [line: string, script: string, key: string, value: string, meant: string])[] = [
    ['operate/provision.ts FILE', 'provision', 'dry_run', 'true', 'FILE --dry-run'],
    ['operate/rotate-keys.ts', 'rotate-keys', 'stage', 'prod', '--stage prod'],
    ['operate/opt-outs-import.ts FILE', 'opt-outs:import', 'client', '1001', 'FILE --client 1001'],
    ['operate/events.ts replay', 'events', 'client', '1001', 'replay --client 1001'],
    ['operate/outcomes.ts', 'outcomes', 'dispatch', 'ID', '--dispatch ID'],
    ['operate/redrive.ts dispatch', 'redrive', 'yes', 'true', 'dispatch --yes'],
    ['operate/put-back.ts messages', 'put-back', 'from', 'copy', 'messages --from copy'],
    ['operate/number.ts 5491100000001 --limit 20', 'number', 'for', '4h', '5491100000001 --limit 20 --for 4h'],
    ['operate/credential.ts 2000', 'credential', 'token', '-', '2000 --token -'],
    ['operate/audit.ts', 'audit', 'client', '1001', '--client 1001'],
    ['operate/policy.ts audit', 'policy', 'stage', 'prod', 'audit --stage prod'],
    ['operate/provision.ts FILE', 'provision', 'part', 'true', 'FILE --part'],
    ['operate/erase.ts --recipient 5491155550001', 'erase', 'dry_run', 'true', '--recipient 5491155550001 --dry-run'],
    ['local/webhooks-listen.ts', 'webhooks:listen', 'user', 'agent1001', '--user agent1001'],
    ['local/webhooks-trigger.ts sync.completed', 'webhooks:trigger', 'user', 'agent1', 'sync.completed --user agent1'],
    ['local/demo.ts', 'demo', 'stack', 'file.json', '--stack file.json'],
    ['cdk.ts deploy', 'deploy', 'call', 'stage=prod', '-c stage=prod'],
    ['cdk.ts deploy', 'deploy', 'profile', 'production', '--profile production'],
    ['cdk.ts diff', 'diff', 'context', 'stage=prod', '--context stage=prod'],
    ['cdk.ts synth', 'synth', 'context', 'stage=prod', '--context stage=prod'],
  ];
  it.each(firstUnlessThorough(lines))(
    'ends %s before anything is done, with the right line',
    async (line, script, key, value, meant) => {
      const left = { npm_lifecycle_event: script, [`npm_config_${key}`]: value };
      expect(await run(line, { ...reachable, ...left })).toEqual({
        code: 2,
        stdout: '',
        stderr: `Nothing was done: npm keeps options for itself that stand without "--" before them; write npm run ${script} -- ${meant}\n`,
      });
    },
  );
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
    const { code, stderr } = await run('operate/rotate-keys.ts --stage prod', {
      ...reachable,
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'The server cannot be reached (connect ECONNREFUSED 127.0.0.1:9).\n',
    });
  });

  const scripts = [
    'operate/provision.ts',
    'operate/rotate-keys.ts',
    'operate/events.ts',
    'operate/outcomes.ts',
    'operate/erase.ts',
    'operate/redrive.ts',
    'operate/put-back.ts',
    'operate/number.ts',
    'operate/credential.ts',
    'operate/audit.ts',
    'operate/policy.ts',
    '../test/bench/cost.ts',
  ];
  it.each(firstUnlessThorough(scripts))('that an option of %s is unknown', async (line) => {
    const { code, stdout, stderr } = await run(`${line} --stagee prod`);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: "Unknown option '--stagee'; --help tells the options.\n",
    });
  });
});

describe('explain', () => {
  it('says what a code means, whose fault it is and what to do', async () => {
    expect(await run('operate/explain.ts worker_lost')).toEqual({
      code: 0,
      stderr: '',
      stdout: `worker_lost: The worker that sent it died (code of a message that is unknown)
  cause    The worker ended between its call of the platform and the record of what came of it.
  fault    the service
  retry    never while unknown (D57)
  to do    Wait: a receipt settles it; it is not sent again by itself, and an operator may settle it by hand (npm run outcomes -- --resolve).
  more     functions/README.md#get-v1templatemessagesdiddispatchid
`,
    });
  });

  it('explains a code of the platform: its scope, what ends it, and whether messages wait', async () => {
    const { stdout } = await run('operate/explain.ts 131048');
    expect(stdout.split('\n').filter((line) => / {2}(concerns|lifted) /.test(line))).toEqual([
      '  concerns every MARKETING message of the number that sends: they wait, a day at most, and go on by themselves (D46)',
      '  lifted   By time; the platform does not say how long.',
    ]);
  });

  it('explains a state and a kind of event, which have no cause of their own', async () => {
    const { code, stdout } = await run('operate/explain.ts unknown');
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/ (cause|fault) /) });
    expect(stdout).toMatch(/^ {2}to do {4}Look at its code: npm run outcomes -- --dispatch ID/m);
  });

  const unknown: readonly (readonly [given: string, hint: string])[] = [
    ['worker_lots', '; did you mean worker_lost?'],
    ['13102', '; did you mean 131021, 131026, 131042, 131052, 131062?'],
    ['something_else_entirely', ''],
    ['999999', '; go by the text that the platform gave with it (message, reason)'],
  ];
  it.each(firstUnlessThorough(unknown))('ends with 1 for %s, with what is near', async (given, hint) => {
    const stderr = `${given} is not a code, a state or a kind of event of this service${hint}\n`;
    expect(await run(`operate/explain.ts ${given}`)).toEqual({ code: 1, stdout: '', stderr });
  });
});

it('openapi writes nothing when it is asked for help', async () => {
  const { mtimeMs } = statSync('functions/openapi.json');
  expect(await run('openapi/write.ts --help')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: npm run openapi\n/),
  });
  expect(await run('openapi/write.ts --chek')).toMatchObject({ code: 2, stdout: '' });
  expect(statSync('functions/openapi.json').mtimeMs).toBe(mtimeMs);
});

describe('explain, asked for a status', () => {
  it('tells the codes that are answered with it', async () => {
    const stderr =
      '409 is a status; the service answers it with a code: template_disabled, sync_in_progress, request_in_progress, opted_out_by_person, not_retryable, nothing_to_retry\n';
    expect(await run('operate/explain.ts 409')).toEqual({ code: 1, stdout: '', stderr });
  });
});

describe('doctor on AWS', () => {
  const doctor = (environment = {}) => run('operate/doctor.ts --stage prod', environment);

  it('stops at credentials that are none, with the remedy', async () => {
    const { code, stdout, stderr } = await doctor({ AWS_REGION: 'eu-west-1' });
    expect(stdout).toMatch(/^✗ credentials and region: The AWS credentials cannot be used/);
    expect(stdout).toMatch(/\n0 good, 1 bad\n$/);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'Not all is well.\n' });
  });

  it('checks everything in an empty account, whatever fails', async () => {
    const { code, stdout } = await doctor(reachable);
    expect(stdout).toContain('✓ credentials and region: stage prod, account 123456789012, region eu-west-1\n');
    for (const what of [
      'stack template-messaging-prod-stateful',
      'API',
      'token keys',
      'sealing keys',
      'alarms',
      'platform',
    ])
      expect(stdout).toContain(`\n✗ ${what}:`);
    expect(code).toBe(1);
  });
});

describe('a command on AWS', () => {
  const named = 'stage prod, account 123456789012, region eu-west-1\n';

  it('names its target before it finds out that no such stage is there', async () => {
    const { code, stderr } = await run(`operate/events.ts list ${period} --stage prod`, reachable);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${named}There is no such stage in this account and region (Requested resource not found): check --stage, AWS_PROFILE and AWS_REGION.\n`,
    });
  });

  it('does not deploy over a stack that only its operator can mend', async () => {
    const { code, stderr } = await run('cdk.ts deploy -c stage=prod', reachable);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${named}The stack template-messaging-prod-stateful is in a state that no deployment gets it out of (ROLLBACK_FAILED): infra/RECOVERY.md says what to do.\n`,
    });
  });

  it("finds a file from its caller's folder", async () => {
    const line = 'operate/provision.ts none.json --stage prod';
    const { stderr } = await run(line, { ...reachable, INIT_CWD: tmpdir() });
    expect(stderr).toBe(`${named}There is no file ${join(tmpdir(), 'none.json')}.\n`);
  });
});
