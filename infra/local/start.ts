import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { functions } from '../functions.ts';
import { CommandError, commandLine, runCommand } from '../operate/command.ts';
import { localStacksFolder, noteLocalStack } from '../operate/local-stacks.ts';
import { addressLine, isMetricsLine, messageLine, requestLine } from './console.ts';
import { answeringServer, chosenDynamoDb, Obstacle, originsFrom, portFrom, requireFreePort } from './preflight.ts';
import { type RunningStack, type StackOptions, startStack } from './stack.ts';
import { watchSources } from './watch.ts';

const usage = `The whole service on this machine, until Ctrl-C.

npm start                        with the demo data, in memory
npm start -- --watch             builds again and exchanges the functions whenever a file in functions/ or lib/ is saved

Variables:
PORT, PLATFORM_PORT              of the API (3000) and of the platform simulator (3001); 0 takes any free one
CORS_ORIGINS=ORIGIN,...          whose pages may call the API beside those of this machine, such as https://app.example.com; * all
DATA=FOLDER                      keeps the tables there between starts; queues start empty
DYNAMODB=dynoxide|local          the DynamoDB emulator; local is DynamoDB Local and needs Java 17
AWS_ENDPOINT_URL_DYNAMODB,
AWS_ENDPOINT_URL_SQS             running servers to use instead of our own
DEBUG_FUNCTION=NAME, DEBUG_PORT  opens an inspector (9229) for one function, such as templates-list, and suspends its time-out
QUIET=1                          no requests and no function logs on the console`;

const interrupted = new AbortController();
const DemoFileSchema = v.object({ users: v.array(v.object({ username: v.string() })) });

async function runUntilInterrupted(): Promise<void> {
  const { values } = commandLine({ options: { watch: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) return console.log(usage);
  const options = await stackOptions(process.env);
  console.log('building and starting (Ctrl-C ends it) ...');
  const stack = await startStack({ ...options, signal: interrupted.signal });
  // The operator commands find the stack by this note.
  const withdraw = noteLocalStack({ pid: process.pid, ...stack.addresses });
  const readable = options.inspected !== undefined;
  const watching = values.watch ? watchSources({ stack, readable, report: console.log }) : undefined;
  try {
    announce(stack, options);
    if (watching) console.log('watching functions/ and lib/');
    const ending = await Promise.race([stack.broken, untilInterrupted()]);
    if (ending instanceof Error) throw new Obstacle(`${ending.message} The local stack was ended.`);
  } finally {
    withdraw();
    await Promise.all([stack.stop(), watching?.stop()]);
  }
}

/** Throws an `Obstacle` for invalid environment variables. */
async function stackOptions(environment: NodeJS.ProcessEnv): Promise<StackOptions> {
  const apiPort = portFrom('PORT', environment['PORT'], 3000);
  const platformPort = portFrom('PLATFORM_PORT', environment['PLATFORM_PORT'], 3001);
  if (apiPort === platformPort && apiPort !== 0) {
    throw new Obstacle(`PORT and PLATFORM_PORT are both ${apiPort}: the API and the simulator need one each.`);
  }
  const corsOrigins = originsFrom('CORS_ORIGINS', environment['CORS_ORIGINS']);
  await requireFreePort('PORT', apiPort);
  await requireFreePort('PLATFORM_PORT', platformPort);
  const dynamodb = chosenDynamoDb(environment);
  if ('endpoint' in dynamodb) await answeringServer('AWS_ENDPOINT_URL_DYNAMODB', dynamodb.endpoint);
  return {
    apiPort,
    platformPort,
    corsOrigins,
    outputDirectory: join(dirname(localStacksFolder), `cdk-local-${process.pid}`),
    dynamodb,
    sqsEndpoint: await answeringServer('AWS_ENDPOINT_URL_SQS', environment['AWS_ENDPOINT_URL_SQS']),
    inspected: await inspectedFunction(environment),
    sourceMaps: true,
    report: console.error,
    ...(environment['QUIET'] === '1' ? {} : consoleLines),
  };
}

const consoleLines: Pick<StackOptions, 'onAnswer' | 'onLog'> = {
  onAnswer: (answered) => console.log(requestLine(answered)),
  onLog: ({ functionName, text }) => {
    if (!isMetricsLine(text)) console.log(`${functionName} | ${text}`);
  },
};

async function inspectedFunction(environment: NodeJS.ProcessEnv): Promise<StackOptions['inspected']> {
  const name = environment['DEBUG_FUNCTION'];
  if (!name) return undefined;
  if (functions[name] === undefined) {
    throw new Obstacle(`DEBUG_FUNCTION=${name} is no function: it is one of ${Object.keys(functions).join(', ')}.`);
  }
  const port = portFrom('DEBUG_PORT', environment['DEBUG_PORT'], 9229);
  await requireFreePort('DEBUG_PORT', port);
  return { name, port };
}

function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.signal.aborted) resolve();
    interrupted.signal.addEventListener('abort', () => resolve());
  });
}

function announce({ addresses, withoutWebhooks }: RunningStack, { dynamodb, inspected }: StackOptions): void {
  const demoFile = readFileSync(join(import.meta.dirname, 'demo', 'provisioning.json'), 'utf8');
  const users = v.parse(DemoFileSchema, JSON.parse(demoFile)).users.map(({ username }) => username);
  const { apiUrl, platformUrl } = addresses;
  console.log(`ready ${apiUrl}

console             ${platformUrl}/   dispatches and people of the service; messages as the phone shows them, templates, faults
demo users          ${users.join(', ')}   password: demo-<user name>

addresses for other terminals, and one line that sends a message, which the console shows:

${addressLine(addresses)}
${messageLine(addresses)}
`);
  if (withoutWebhooks !== undefined) console.log(`the platform simulator sends no webhooks: ${withoutWebhooks}`);
  if ('engine' in dynamodb && dynamodb.dataFolder !== undefined) {
    console.log(`tables are kept in ${dynamodb.dataFolder}; queues start empty`);
  }
  if (inspected !== undefined) {
    console.log(`debugger of ${inspected.name}   127.0.0.1:${inspected.port}   its time-out is suspended`);
  }
}

// npm and the terminal may deliver the same Ctrl-C twice; a second abort has no effect.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

await runCommand(async () => {
  try {
    await runUntilInterrupted();
  } catch (error) {
    if (interrupted.signal.aborted) return;
    throw error instanceof Obstacle ? new CommandError(error.message, 1) : error;
  }
});
process.exit();
