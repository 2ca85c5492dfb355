import { randomInt } from 'node:crypto';
import { dirname, join } from 'node:path';
import { CommandError, callersPath, commandLine, runCommand } from '../operate/command.ts';
import { findLocalStack, localStacksFolder, runningLocalStack } from '../operate/local-stacks.ts';
import { nameTarget } from '../operate/target.ts';
import { audience, demoDid, orderUpdate } from './demo/audience.ts';
import { ApiRefusal, type DemoStack, logIn, type Report } from './demo/client.ts';
import { follow, lostOneWatched } from './demo/follow-report.ts';
import { type Progress, progressOn } from './demo/progress.ts';
import { discrepancies, onTheWay, tableOf } from './demo/result-table.ts';
import { arrange, lostRecipient, specialRecipients } from './demo/special-recipients.ts';
import { chosenDynamoDb, Obstacle } from './preflight.ts';
import { startStack } from './stack.ts';

const usage = `The main task, once: log in, synchronize, list, send to 1,000 recipients, ask what became of each.

npm run demo                     on the running local stack (npm start), or on one of its own
npm run demo -- --stack FILE     on the local stack that FILE describes, as npm start describes its own`;

const user = 'supervisor1001';
const recipientCount = 1_000;
/** This is longer than a queue hides the messages of a killed worker: six times its timeout of a minute. */
const quietLimitMs = 7 * 60_000;
const everyMs = 500;

const interrupted = new AbortController();

/** Throws a `CommandError` when the result is wrong, or when nothing moves before the end. */
async function demonstrate(stack: DemoStack, progress: Progress): Promise<void> {
  const { signal } = interrupted;
  const client = await logIn(stack, user, signal);
  console.log(`logged in as ${user}`);
  await client.synchronize();
  const { total, names } = await client.listTemplates();
  console.log(`synchronized; ${total} templates without a campaign: ${names.join(', ')}`);

  console.log(`sending ${orderUpdate.name} from ${demoDid} to ${recipientCount} recipients`);
  await arrange(stack, signal);
  const special = specialRecipients.map(({ to }) => to);
  const recipients = audience(recipientCount, randomInt(10 ** 8), special);
  const startedMs = performance.now();
  const dispatchId = await client.send({ did: demoDid, template: orderUpdate, recipients });
  const lostOne = lostOneWatched();
  const onReport = (report: Report) => {
    progress.show(report.counts);
    lostOne.look(report);
  };
  const isOver = (report: Report) => onTheWay(report) === 0;
  const report = await follow({ client, did: demoDid, dispatchId, quietLimitMs, everyMs, signal, isOver, onReport });
  progress.end();
  console.log(`\n${tableOf(report, (performance.now() - startedMs) / 1_000)}`);
  const told = lostOne.told.map(({ state }) => state).join(', ');
  console.log(`\nOne answer was lost (${lostRecipient}); the report said of it: ${told}.`);

  if (!isOver(report)) throw new CommandError(`\n${stillRunning(report, dispatchId)}`, 1);
  const faults = discrepancies(report, recipients);
  if (faults.length > 0) throw new CommandError(`\nThis does not add up:\n${faults.join('\n')}`, 1);
  const wasUnknown = lostOne.told.slice(0, -1).some(({ state }) => state === 'unknown');
  if (wasUnknown) console.log('Its receipt has settled it.');
  console.log('Every recipient is in the report once, in the state that was meant for it.');
}

function stillRunning(report: Report, dispatchId: string): string {
  const quiet = `nothing has changed for ${quietLimitMs / 60_000} minutes`;
  return `Still running: ${onTheWay(report)} of ${report.total} messages are on their way, and ${quiet}. What becomes of them: infra/ops outcomes --dispatch ${dispatchId} --all`;
}

async function withOwnStack(use: (stack: DemoStack) => Promise<void>): Promise<void> {
  const dynamodb = chosenDynamoDb(process.env);
  console.log('no local stack is running: starting one');
  const stack = await startStack({
    apiPort: 0,
    platformPort: 0,
    outputDirectory: join(dirname(localStacksFolder), `cdk-demo-${process.pid}`),
    dynamodb,
    sqsEndpoint: process.env['AWS_ENDPOINT_URL_SQS'],
    report: console.error,
    signal: interrupted.signal,
  });
  try {
    if (stack.withoutWebhooks !== undefined) {
      console.log(`the platform simulator sends no webhooks: ${stack.withoutWebhooks}`);
    }
    await Promise.race([use(stack.addresses), stack.broken.then((error) => Promise.reject(error))]);
  } finally {
    await stack.stop();
  }
}

async function run(): Promise<void> {
  const { values } = commandLine({ options: { stack: { type: 'string' }, help: { type: 'boolean' } } });
  if (values.help) return console.log(usage);
  const running = values.stack === undefined ? findLocalStack() : runningLocalStack(callersPath(values.stack));
  if (running !== undefined) nameTarget(running);
  const progress = progressOn(process.stdout);
  try {
    if (running === undefined) await withOwnStack((stack) => demonstrate(stack, progress));
    else await demonstrate(running, progress);
  } catch (error) {
    progress.end();
    if (interrupted.signal.aborted) throw new CommandError('Interrupted.', 1);
    if (error instanceof Obstacle || error instanceof ApiRefusal) throw new CommandError(error.message, 1);
    throw error;
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

await runCommand(run);
// The command is done; kept-alive connections must not delay its end.
process.exit();
