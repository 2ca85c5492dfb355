import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import * as v from 'valibot';
import { sdkNeverImports } from '../../infra/build.ts';
import { bundleOf, packagesOf } from './bundle.ts';
import { median, report } from './figure.ts';

const runs = 15;

/** Each file makes one SDK client, and keeps a few commands from tree shaking. */
const clientSources: Readonly<Record<string, string>> = {
  '@aws-sdk/client-dynamodb': `
    import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
    import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
    export const dynamodb = [DynamoDBDocumentClient.from(new DynamoDBClient({})), GetCommand, PutCommand, QueryCommand, UpdateCommand];`,
  '@aws-sdk/client-sqs': `
    import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
    export const sqs = [new SQSClient({}), SendMessageCommand, SendMessageBatchCommand];`,
};

/** This is the authorizer as it was with the SDK. Today it has no SDK client, and is compared with this one. */
const authorizerWithSdk = `
  import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
  export { handler } from './functions/authorizer.ts';
  export const secrets = [new SecretsManagerClient({}), GetSecretValueCommand];`;

/**
 * Compares the start-up of each function with a file of the same SDK clients, in turns: imports in fresh processes, the
 * median of 15. The limit is on processor time, because elapsed time also measures other processes.
 */
export async function benchStartup(
  names: readonly string[],
  environmentOf: (name: string) => Environment,
  signal: AbortSignal,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'startup-'));
  const compare = (name: string, plain: string) => ratiosOf(bundleOf(name), environmentOf(name), { plain, folder });
  try {
    for (const name of names) {
      const clients = Object.keys(clientSources).filter((client) => packagesOf(name).has(client));
      if (clients.length === 0) continue;
      const baseline = await bundled(clients.map((client) => clientSources[client]).join('\n'), folder);
      signal.throwIfAborted();
      reportRatios(`startup.${name}`, 1.1, compare(name, baseline));
    }
    const clients = Object.values(clientSources).join('\n');
    const asBuilt = await bundled(clients, folder, sdkNeverImports);
    const { processor } = ratiosOf(asBuilt, environmentOf('messages-send'), {
      plain: await bundled(clients, folder),
      folder,
    });
    // For information: these clients lack what the build leaves out of the SDK.
    report({ figure: 'startup.clients_as_built', value: processor, unit: 'ratio' });
    const withSdk = await bundled(authorizerWithSdk, folder);
    reportRatios('startup.authorizer_to_one_with_the_sdk', 0.5, compare('authorizer', withSdk));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Environment = Readonly<Record<string, string>>;
type Ratios = ReturnType<typeof ratiosOf>;

function reportRatios(figure: string, limit: number, { processor, elapsed, withCompileCache }: Ratios): void {
  report({ figure, value: processor, limit, unit: 'ratio' });
  report({ figure: `${figure}.elapsed`, value: elapsed, unit: 'ratio' });
  // For information: V8's cache is valid for one version of Node.js on one architecture, and AWS renews Lambda's
  // Node.js by itself, so no bundle is deployed with a cache.
  report({ figure: `${figure}.with_compile_cache`, value: withCompileCache, unit: 'ratio' });
}

/** Returns the start-up time of a bundle, divided by that of the file `plain`, in the same environment and in turns. */
function ratiosOf(
  bundle: string,
  environment: Environment,
  { plain, folder }: { readonly plain: string; readonly folder: string },
) {
  const ours: Import[] = [];
  const cached: Import[] = [];
  const theirs: Import[] = [];
  const withCache = { ...environment, NODE_COMPILE_CACHE: join(folder, 'compile-cache') };
  importOf(bundle, withCache);
  for (let run = 0; run < runs; run += 1) {
    ours.push(importOf(bundle, environment));
    theirs.push(importOf(plain, environment));
    cached.push(importOf(bundle, withCache));
  }
  const ratio = (of: readonly Import[], time: keyof Import) =>
    median(of.map((one) => one[time])) / median(theirs.map((one) => one[time]));
  return {
    processor: ratio(ours, 'processorMs'),
    elapsed: ratio(ours, 'elapsedMs'),
    withCompileCache: ratio(cached, 'processorMs'),
  };
}

let bundles = 0;

async function bundled(source: string, folder: string, external: string[] = []): Promise<string> {
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
    external,
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
