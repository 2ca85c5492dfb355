import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  CloudFormationClient,
  type CloudFormationClientConfig,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import * as v from 'valibot';
import { holdPort } from '../../infra/local/held-port.ts';

// `npm run proof -- ministack`: deploys both stacks to an emulator of AWS that others have written, provisions the demo data,
// logs in, synchronizes, sends one message and reads its report. MiniStack is a package for Python 3.10 or newer, installed
// into dist/ministack; where there is no such Python, the proof says that it is left out.

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'dist', 'ministack');
const release = 'ministack==1.5.*';
const region = 'eu-west-1';
const did = '5491100000001';

const started: ChildProcess[] = [];
try {
  process.exitCode = (await proven()) ? 0 : 1;
} finally {
  for (const child of started) child.kill('SIGTERM');
}

async function proven(): Promise<boolean> {
  const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']);
  if (python.status !== 0) {
    console.log('ministack: left out, it needs Python 3.10 or newer as python3');
    return true;
  }
  mkdirSync(folder, { recursive: true });
  if (!ran('python3', ['-m', 'venv', folder])) return false;
  if (!ran(join(folder, 'bin', 'pip'), ['install', '--quiet', release])) return false;

  const [port, platformPort] = [await openPort(), await openPort()];
  const platformUrl = `http://127.0.0.1:${platformPort}`;
  begin(process.execPath, ['infra/simulator/main.ts'], { PLATFORM_PORT: String(platformPort) });
  begin(join(folder, 'bin', 'ministack'), [], { GATEWAY_PORT: String(port), MINISTACK_REGION: region });
  await answering(`http://127.0.0.1:${port}/`);
  await answering(`${platformUrl}/_control/messages`);

  // Without an endpoint this would be real AWS: none of the caller's own accounts is seen.
  const aws = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_PROFILE: undefined,
    PLATFORM_BASE_URL: platformUrl,
  };
  const assembly = join(folder, 'cdk.out');
  const context = ['stage=try', 'canary=false', `platformBaseUrl=${platformUrl}`].flatMap((value) => ['-c', value]);
  const client = {
    endpoint: aws.AWS_ENDPOINT_URL,
    region,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const deployed =
    ran('node', ['infra/cdk.ts', 'synth', '--output', assembly, ...context], aws) &&
    withoutAlarms(assembly) &&
    ran('cdk', ['bootstrap', `aws://000000000000/${region}`], aws) &&
    ran('cdk', ['deploy', '--app', assembly, '--all', '--require-approval', 'never'], aws) &&
    ran('node', ['infra/operate/provision.ts', 'infra/local/demo/provisioning.json', '--stage', 'try'], aws);
  return deployed && (await sendsOne(await addressOfApi(client)));
}

type Client = CloudFormationClientConfig & { readonly endpoint: string };

interface Resource {
  readonly Type: string;
  readonly DependsOn?: readonly string[];
  readonly UpdatePolicy?: unknown;
}

/** Takes out what the emulator refuses a whole stack for: alarms on expressions, gradual deployments, and saved queries. */
function withoutAlarms(assembly: string): boolean {
  for (const file of readdirSync(assembly).filter((name) => name.endsWith('.template.json'))) {
    const template: { Resources: Record<string, Resource> } = JSON.parse(readFileSync(join(assembly, file), 'utf8'));
    const kept = Object.entries(template.Resources).filter(
      ([, { Type }]) => !/^AWS::(?:CloudWatch::|CodeDeploy::|Logs::QueryDefinition$)/.test(Type),
    );
    const names = new Set(kept.map(([name]) => name));
    const resources = kept.map(([name, { UpdatePolicy: _, DependsOn: needed = [], ...resource }]) => [
      name,
      { ...resource, DependsOn: [needed].flat().filter((each) => names.has(each)) },
    ]);
    writeFileSync(join(assembly, file), JSON.stringify({ ...template, Resources: Object.fromEntries(resources) }));
  }
  return true;
}

/** Logs in, synchronizes, sends to one recipient and waits for its report; false when one of these was refused. */
async function sendsOne(baseUrl: string): Promise<boolean> {
  const api = async (line: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const [method = '', path = ''] = line.split(' ');
    const answer = await fetch(baseUrl + path, { method, headers, body: body ? JSON.stringify(body) : null });
    console.log(`ministack: ${line} ${answer.status}`);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const login = await api('POST /login', { username: 'supervisor1001', password: 'demo-supervisor1001' });
  const { access_token: token } = v.parse(v.object({ access_token: v.string() }), JSON.parse(login.text));
  const authorized = { authorization: `Bearer ${token}` };
  await api('POST /v1/templates/sync-from-platform', {}, authorized);
  const message = {
    did,
    type: 'template',
    channel: 'MESSAGING',
    template: { name: 'order_update', language: 'en_US' },
    recipients: [{ to: '5491155550001', params: { body: ['Ana', 'A-1001'], buttons: ['A-1001'] } }],
  };
  const sent = await api(`POST /v1/template/messages/${did}`, message, authorized);
  const dispatchId = sent.headers.get('dispatch-id');
  if (sent.status !== 200 || dispatchId === null) {
    console.error(`ministack: the send was answered ${sent.text}`);
    return false;
  }
  for (let asked = 0; asked < 60; asked += 1) {
    const report = await api(`GET /v1/template/messages/${did}/${dispatchId}`, undefined, authorized);
    if (report.text.includes('"complete":true')) {
      console.log(`ministack: the report says ${report.text}`);
      return /"state":"(?:sent|delivered|read)"/.test(report.text);
    }
    await pause(2_000);
  }
  console.error('ministack: the message was still pending after two minutes');
  return false;
}

/** Where the emulator, whose services share one port, serves the deployed API; its own paths would shadow those of ours. */
async function addressOfApi(options: Client): Promise<string> {
  const client = new CloudFormationClient(options);
  const { Stacks: stacks = [] } = await client.send(new DescribeStacksCommand({}));
  const outputs = stacks.flatMap(({ Outputs: each = [] }) => each);
  const url = outputs.find(({ OutputKey: key }) => key === 'ApiUrl')?.OutputValue;
  if (url === undefined) throw new Error('ministack: no stack has an output ApiUrl');
  return `${options.endpoint}/_aws/execute-api/${new URL(url).hostname.split('.')[0]}/$default`;
}

/** Runs a command to its end, its output passed through; whether it succeeded. */
function ran(command: string, words: readonly string[], environment: NodeJS.ProcessEnv = {}): boolean {
  console.log(`ministack: ${[command, ...words].join(' ')}`);
  const { status } = spawnSync(command, words, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  return status === 0;
}

/** Starts a process that the proof ends, with its output in a file of its folder. */
function begin(command: string, words: readonly string[], environment: NodeJS.ProcessEnv): void {
  const log = openSync(join(folder, `${basename(words[0] ?? command)}.log`), 'w');
  started.push(
    spawn(command, words, { cwd: root, stdio: ['ignore', log, log], env: { ...process.env, ...environment } }),
  );
}

async function answering(url: string): Promise<void> {
  for (let tries = 0; tries < 120; tries += 1) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
    await pause(500);
  }
  throw new Error(`ministack: nothing answers at ${url}, see the logs in ${folder}`);
}

async function openPort(): Promise<number> {
  const held = await holdPort(0);
  await held.stop();
  return held.number;
}
