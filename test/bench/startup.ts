import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import * as v from 'valibot';
import { bundleOf, packagesOf } from './bundles.ts';
import { median, report } from './figure.ts';

const runs = 15;

/** What a file with the same SDK clients looks like: each client made, and a few commands kept from tree shaking. */
const clientSources: Readonly<Record<string, string>> = {
  '@aws-sdk/client-dynamodb': `
    import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
    import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
    export const dynamodb = [DynamoDBDocumentClient.from(new DynamoDBClient({})), GetCommand, PutCommand, QueryCommand, UpdateCommand];`,
  '@aws-sdk/client-sqs': `
    import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
    export const sqs = [new SQSClient({}), SendMessageCommand, SendMessageBatchCommand];`,
};

/** The authorizer as it would be if it read its keys with the SDK. */
const authorizerWithSdk = `
  import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
  export { handler } from './functions/authorizer.ts';
  export const secrets = [new SecretsManagerClient({}), GetSecretValueCommand];`;

/**
 * Start-up of every function that holds SDK clients, as a ratio to a file that holds only the same clients: import of
 * the bundle in a fresh process, `node:http` loaded before, the two in turn, median of 15 each. The limit is on processor
 * time: importing waits for nothing else, and elapsed time, printed beside it, tells more about what else the machine does.
 * The authorizer holds none, and is compared with what it was when it did.
 */
export async function benchStartup(
  names: readonly string[],
  environmentOf: (name: string) => Environment,
  signal: AbortSignal,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'startup-'));
  try {
    for (const name of names) {
      const clients = Object.keys(clientSources).filter((client) => packagesOf(name).has(client));
      if (clients.length === 0) continue;
      const baseline = await bundled(clients.map((client) => clientSources[client]).join('\n'), folder);
      signal.throwIfAborted();
      const { processor, elapsed } = ratiosOf(name, environmentOf(name), baseline);
      report({ figure: `startup.${name}`, value: processor, limit: 1.25, unit: 'ratio' });
      report({ figure: `startup.${name}.elapsed`, value: elapsed, unit: 'ratio' });
    }
    const withSdk = await bundled(authorizerWithSdk, folder);
    const { processor, elapsed } = ratiosOf('authorizer', environmentOf('authorizer'), withSdk);
    report({ figure: 'startup.authorizer_to_one_with_the_sdk', value: processor, limit: 0.5, unit: 'ratio' });
    report({ figure: 'startup.authorizer_to_one_with_the_sdk.elapsed', value: elapsed, unit: 'ratio' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Environment = Readonly<Record<string, string>>;

/** What the start-up of a function takes of that of `baseline`, both in the same environment and in turn. */
function ratiosOf(name: string, environment: Environment, baseline: string) {
  const ours: Import[] = [];
  const theirs: Import[] = [];
  for (let run = 0; run < runs; run += 1) {
    ours.push(importOf(bundleOf(name), environment));
    theirs.push(importOf(baseline, environment));
  }
  const ratio = (time: keyof Import) => median(ours.map((one) => one[time])) / median(theirs.map((one) => one[time]));
  return { processor: ratio('processorMs'), elapsed: ratio('elapsedMs') };
}

let bundles = 0;

async function bundled(source: string, folder: string): Promise<string> {
  bundles += 1;
  const outfile = join(folder, `${bundles}.mjs`);
  await build({
    stdin: { contents: source, resolveDir: process.cwd(), loader: 'ts' },
    outfile,
    bundle: true,
    minify: true,
    legalComments: 'none',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
  });
  return outfile;
}

const ImportSchema = v.object({ processorMs: v.number(), elapsedMs: v.number() });
type Import = v.InferOutput<typeof ImportSchema>;

function importOf(file: string, environment: Environment): Import {
  const script = `
    await import('node:http');
    const [startedMs, used] = [performance.now(), process.cpuUsage()];
    await import(${JSON.stringify(pathToFileURL(file).href)});
    const [elapsedMs, { user, system }] = [performance.now() - startedMs, process.cpuUsage(used)];
    console.log(JSON.stringify({ elapsedMs, processorMs: (user + system) / 1000 }));
    process.exit(0);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'], AWS_REGION: 'us-east-1', AWS_LAMBDA_FUNCTION_NAME: 'bench', ...environment },
  });
  return v.parse(ImportSchema, JSON.parse(output.toString().trim().split('\n').at(-1) ?? ''));
}
