import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { demoDid } from '../../infra/local/demo/audience.ts';
import { logIn } from '../../infra/local/demo/client.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { resourceName } from '../../infra/names.ts';
import { commandLine } from '../../infra/operate/command.ts';
import list from '../../infra/operate/list-prices.json' with { type: 'json' };
import type { DidScope } from '../../lib/access/directory.ts';
import { didKey } from '../../lib/access/directory-items.ts';
import { interrupted, proofCommand } from '../proof/command.ts';
import { onOwnStack } from '../proof/own-stack.ts';
import * as assumed from './cost/assumed.ts';
import { costOfCountingBulk, costOfCountingSingles } from './cost/counting.ts';
import { standingText, volumeText } from './cost/month.ts';
import { times, together } from './cost/price.ts';
import { costOfAcceptance, costOfSending, type Sending, type SendingCost } from './cost/sending.ts';
import { storedBytes } from './cost/stored.ts';
import { costOfSweep, dollarsOfSweeps } from './cost/sweeps.ts';
import { tableOf } from './cost/table.ts';
import { costOfAuditLine, costOfEvent, costOfNotedMessage, costOfReceipt } from './cost/told.ts';
import { figuresAboveTheirLimit, report } from './figure.ts';
import { benchTable, clientOf } from './template-tables.ts';

// `npm run cost` prices a million messages by AWS's list prices. `--figures` prints JSON lines for `npm run bench`,
// with exit status 1 above a limit. `--standing` prints what an idle month costs, without measuring.

const options = {
  figures: { type: 'boolean', default: false },
  standing: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h' },
} as const;
const usage = `npm run cost [-- --standing | --figures]

Prices a million messages by list prices, measured on a local stack of its own: some minutes.

  --standing  only what a month costs in which nothing happens; measures nothing
  --figures   lines of JSON for npm run bench; ends with status 1 above a limit`;
let figuresOnly = false;

/**
 * Limits are dollars a million messages, the worst of four queue delays (0 to 1,000 ms late). A limit is the aim once
 * the aim is reached, before that a tenth above the current value.
 */
const sendings: readonly (Sending & { readonly title: string; readonly limit: number; readonly aim?: number })[] = [
  {
    ...{ name: 'bulk', title: 'Bulk, 1,000 recipients a request, which come one by one', limit: 0.45 },
    ...{ recipients: 1_000, requests: 1, bursts: 1, everyMs: 60_000 },
  },
  {
    // Opt-outs may add $0.15 at most (D55).
    ...{ name: 'bulk-with-opt-outs', title: 'The same, of a client that has opt-outs', limit: 0.6, optOuts: true },
    ...{ recipients: 1_000, requests: 1, bursts: 1, everyMs: 60_000 },
  },
  {
    ...{ name: 'bulk-of-ten', title: 'Bulk, ten requests of 1,000 recipients at once, from one number', limit: 0.45 },
    ...{ recipients: 1_000, requests: 10, bursts: 1, everyMs: 60_000 },
  },
  {
    ...{ name: 'bulk-of-hundred', title: 'Bulk, a hundred requests of 100 recipients at once', limit: 0.7 },
    ...{ recipients: 100, requests: 100, bursts: 1, everyMs: 60_000 },
  },
  {
    ...{ name: 'tens', title: 'Requests of ten recipients, one in three seconds', limit: 1.2 },
    ...{ recipients: 10, requests: 1, bursts: 40, everyMs: 3_000 },
  },
  {
    ...{ name: 'single-tens', title: 'Single sends, ten at a time, which workers find together', aim: 6, limit: 7 },
    ...{ recipients: 1, requests: 10, bursts: 20, everyMs: 3_000, gatherMs: 150 },
  },
  {
    ...{ name: 'single-trickle', title: 'Single sends at a trickle, one in three seconds', aim: 8, limit: 9.8 },
    ...{ recipients: 1, requests: 1, bursts: 40, everyMs: 3_000 },
  },
];

async function measure(stack: RunningStack, signal: AbortSignal): Promise<void> {
  const client = await logIn(stack.addresses, 'supervisor1001', signal);
  await client.synchronize();
  // No worker needs what is accepted here: it ends with the stack.
  await stack.poller.pause();
  await letSend(stack, 'own');
  say(preface());
  // The first run of code is slower.
  await costOfSending(stack, { name: 'warm-up', recipients: 300, requests: 1, bursts: 1, everyMs: 1_000 });
  for (const sending of sendings) {
    const { parts, dollarsOfAMillion, ofRun, latenessMs } = await costOfSending(stack, sending);
    say(tableOf(`${sending.title} (${ofRun.toFixed(1)} a run; delays end up to ${latenessMs} ms late)`, parts));
    const { aim = sending.limit } = sending;
    say(`  aimed at: $${aim.toFixed(2)}, found: $${dollarsOfAMillion.toFixed(2)}\n`);
    if (!figuresOnly) say(`${await whatIsLeft(stack, { sending, parts, latenessMs })}\n`);
    if (figuresOnly) {
      report({
        ...{ figure: `cost.${sending.name}`, value: dollarsOfAMillion, limit: sending.limit },
        unit: 'dollars a million',
      });
    }
  }
  if (figuresOnly) return;
  say(`${standingText()}\n`);
  const sweep = await costOfSweep(stack);
  say(tableOf('A sweep of the backlog, one each minute, where nothing is due', { sweep }));
  say(`  a month of them: $${dollarsOfSweeps(sweep).toFixed(2)}\n`);
  const withoutKey = await costOfAcceptance(stack, 1);
  const keyed = together(await costOfAcceptance(stack, 1, true), times(withoutKey, -1));
  say(`${tableOf('An Idempotency-Key, for each request that has one', { acceptance: keyed })}\n`);
  const recipientsShared = 1_000;
  const alone = { 1: withoutKey, [recipientsShared]: await costOfAcceptance(stack, recipientsShared) };
  await letSend(stack, 'waba');
  for (const [recipients, ofOwner] of Object.entries(alone)) {
    const noting = together(await costOfAcceptance(stack, Number(recipients)), times(ofOwner, -1));
    const title = `A number that several clients share, for each request of ${recipients}`;
    say(`${tableOf(title, { acceptance: noting })}\n`);
  }
  for (const posted of [1, 10, 100]) {
    const receipts = times(await costOfReceipt(stack, posted), 3);
    say(`${tableOf(`Three receipts of a message, ${posted} a post`, { receipts })}\n`);
  }
  const { tableName } = await benchTable(stack, 'cost-counting', 'messages');
  // A client is metered once.
  const ofCounts = () => ({ client: clientOf(stack), name: tableName, pause: async () => undefined });
  for (const joined of [1, 10, 100]) {
    const counting = await costOfCountingSingles(ofCounts(), joined);
    say(`${tableOf(`Counting what single sends cost, receipts of ${joined} together`, { counting })}\n`);
  }
  const ofBulk = await costOfCountingBulk(ofCounts(), 10_000);
  say(`${tableOf('The same of a dispatch of 10,000, all counts of its first day', { counting: ofBulk })}\n`);
  const index = await costOfNotedMessage(stack);
  say(
    `${tableOf('The index for answers, each message that heeds opt-outs, or of a client that asks for message.replied', { index })}\n`,
  );
  say(`${tableOf('An event, told to a receiver in runs of ten', { events: await costOfEvent(stack) })}\n`);
  say(`${tableOf('What a user does, as a line of the audit', { audit: await costOfAuditLine(stack) })}\n`);
}

/** Prices a million messages after they are sent: their storage in tables, backups and logs, and their traffic. */
async function whatIsLeft(
  stack: RunningStack,
  { sending, parts, latenessMs }: { readonly sending: Sending } & Pick<SendingCost, 'parts' | 'latenessMs'>,
): Promise<string> {
  const { name, recipients, requests, bursts } = sending;
  const documentClient = clientOf(stack);
  const stored = await storedBytes({ documentClient, tableName: `bench-cost-${name}-${latenessMs}-messages` });
  const { logBytes = 0 } = together(...Object.values(parts));
  return volumeText('  The same until nothing of it is kept any more, without receipts and events', {
    storedBytes: stored / (recipients * requests * bursts),
    logBytes,
    sentBytes: assumed.sentBytesOfMessage,
  });
}

/**
 * Sets the clients that may send from the number. Where there are several, each request records its recipients (D55).
 */
async function letSend(stack: RunningStack, dids: DidScope): Promise<void> {
  await clientOf(stack).send(
    new UpdateCommand({
      TableName: resourceName(stack.addresses.stage, 'directory'),
      Key: didKey(demoDid),
      UpdateExpression: 'SET #waba.#dids = :dids',
      ExpressionAttributeNames: { '#waba': 'waba', '#dids': 'dids' },
      ExpressionAttributeValues: { ':dids': dids },
    }),
  );
}

function say(text: string): void {
  if (!figuresOnly) console.log(text);
}

function preface(): string {
  return `List prices of ${list.region} as of ${list.asOf}: ${list.source}.
Requests, units, bytes and processor time are measured; processor time is this machine's, that of senders and of the
worker of small requests is what \`npm run bench -- worker\` finds. Of the delays of queues, which end late, the worst
counts. Lambda is billed by wall time: a sender that waits for its turns or for answers is paid for by its memory, or for
what it computes at its share of a processor where that takes longer, and answers are assumed to take ${assumed.storeMs} ms (tables), ${assumed.queueMs} ms (queues), ${assumed.platformMs} ms (platform) and
${assumed.receiverMs} ms (receivers). Memory: messages-send ${assumed.memoryOf('messages-send')} MB, messages-dispatch ${assumed.memoryOf('messages-dispatch')} MB, messages-dispatch-urgent ${assumed.memoryOf('messages-dispatch-urgent')} MB,
messages-receipts ${assumed.memoryOf('messages-receipts')} MB, events-deliver ${assumed.memoryOf('events-deliver')} MB. Of AWS's own log lines ${assumed.invocationLogBytes} bytes an invocation and ${assumed.accessLogBytes} a request
are assumed; the authorizer is asked once a minute. Beside it, each in a table of its own: what stands there in a month in which
nothing happens, and the room and the traffic of messages, of which ${assumed.sentBytesOfMessage} bytes each are assumed to leave. Logs are kept compressed, to ${100 * assumed.compressedLog} %.
Not in it: the watcher of parked dispatches, custom metrics, marks of opt-outs where there are none (0.2 read units a message at AWS, $0.025 a million), reads of secrets and starts of new processes. Receipts are those of one dispatch of 1,000,
recorded 500 posts at a time: of single sends, each may be a write of its own.
`;
}

await proofCommand(async () => {
  const { values } = commandLine({ options });
  if (values.help) return console.log(usage);
  if (values.standing) return console.log(standingText());
  figuresOnly = values.figures;
  await onOwnStack({ name: 'cost', signal: interrupted }, (stack) => measure(stack, interrupted));
  process.exitCode = figuresAboveTheirLimit() === 0 ? 0 : 1;
});
