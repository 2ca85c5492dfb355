import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { localStacksFolder, noteLocalStack } from '../operate/local-stacks.ts';
import { answeringServer, chosenDynamoDb, Obstacle, portFrom, requireFreePort } from './preflight.ts';
import { type RunningStack, startStack } from './stack.ts';

// `npm start`: the whole service on this machine until Ctrl-C or SIGTERM. Variables: PORT, PLATFORM_PORT,
// DYNAMODB_ENDPOINT, SQS_ENDPOINT (running servers to use instead of our own), QUIET=1 (no function logs).

const interrupted = new AbortController();
const DemoFileSchema = v.object({ users: v.array(v.object({ username: v.string() })) });

async function runUntilInterrupted(): Promise<void> {
  const { SQS_ENDPOINT, PORT, PLATFORM_PORT } = process.env;
  const apiPort = portFrom('PORT', PORT, 3000);
  const platformPort = portFrom('PLATFORM_PORT', PLATFORM_PORT, 3001);
  if (apiPort === platformPort && apiPort !== 0) {
    throw new Obstacle(`PORT and PLATFORM_PORT are both ${apiPort}: the API and the simulator need one each.`);
  }
  await requireFreePort('PORT', apiPort);
  await requireFreePort('PLATFORM_PORT', platformPort);
  const dynamodb = chosenDynamoDb(process.env);
  if ('endpoint' in dynamodb) await answeringServer('DYNAMODB_ENDPOINT', dynamodb.endpoint);
  const sqsEndpoint = await answeringServer('SQS_ENDPOINT', SQS_ENDPOINT);

  const quiet = process.env['QUIET'] === '1';
  console.log('building and starting (Ctrl-C ends it) ...');
  const stack = await startStack({
    apiPort,
    platformPort,
    outputDirectory: join(dirname(localStacksFolder), `cdk-local-${process.pid}`),
    dynamodb,
    sqsEndpoint,
    signal: interrupted.signal,
    report: console.error,
    ...(quiet ? {} : { onLog: ({ functionName, text }) => console.log(`${functionName} | ${text}`) }),
  });
  // For the operator commands.
  const withdraw = noteLocalStack({ pid: process.pid, ...stack.addresses });
  try {
    announce(stack);
    const ending = await Promise.race([stack.broken, untilInterrupted()]);
    if (ending instanceof Error) throw new Obstacle(`${ending.message} The local stack was ended.`);
  } finally {
    withdraw();
    await stack.stop();
  }
}

function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.signal.aborted) resolve();
    interrupted.signal.addEventListener('abort', () => resolve());
  });
}

/** Prints where everything is. */
function announce({ addresses }: RunningStack): void {
  const demoFile = readFileSync(join(import.meta.dirname, 'demo', 'provisioning.json'), 'utf8');
  const users = v.parse(DemoFileSchema, JSON.parse(demoFile)).users.map(({ username }) => username);
  const { apiUrl, platformUrl } = addresses;
  console.log(`ready ${apiUrl}

platform simulator  ${platformUrl}   what has reached it: ${platformUrl}/_control/messages
demo users          ${users.join(', ')}   password: demo-<user name>

TOKEN=$(curl -s ${apiUrl}/login -d '{"username":"supervisor1001","password":"demo-supervisor1001"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -s -X POST ${apiUrl}/v1/templates/sync-from-platform -H "authorization: Bearer $TOKEN" -d '{}'
sleep 2; curl -s "${apiUrl}/v1/templates?campaign_name=Unassigned&size=3" -H "authorization: Bearer $TOKEN"
`);
}

// npm and the terminal may deliver the same Ctrl-C twice; aborting twice is aborting once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

try {
  await runUntilInterrupted();
} catch (error) {
  if (!interrupted.signal.aborted) {
    console.error(error instanceof Obstacle ? error.message : error);
    process.exitCode = 1;
  }
}
process.exit();
