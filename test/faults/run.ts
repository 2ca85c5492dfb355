import { randomInt } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../../infra/local/demo/client.ts';
import { progressOn } from '../../infra/local/demo/progress.ts';
import { startDynamoDb } from '../../infra/local/dynamodb.ts';
import type { FunctionLogLine } from '../../infra/local/instance.ts';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { receiverUrl } from '../../infra/local/webhook-receiver.ts';
import { CommandError, callersPath, commandLine } from '../../infra/operate/command.ts';
import { interrupted, proofCommand } from '../proof/command.ts';
import { onOwnStack } from '../proof/own-stack.ts';
import { seededRandom } from '../support/faults.ts';
import { audited, auditOf } from '../support/send-audit.ts';
import {
  type Campaign,
  campaignOf,
  countsOf,
  countsWatched,
  type Dispatch,
  mostRecipients,
  numberIds,
  pausedTemplateId,
  prepareClients,
  type StateCounts,
  takenAt,
  toldOf,
} from './running/campaign.ts';
import { chanceOf } from './running/chance.ts';
import { type MischiefKind, makeMischief, mischiefKinds } from './running/mischief.ts';
import { type StackQueues, stackQueues } from './running/queues.ts';
import { startTroubledStore, type TroubledStore } from './running/store-trouble.ts';
import { sendingAt, tableOfRun } from './running/table.ts';
import { eventFaults, receivedKinds, receiveEvents } from './running/told-events.ts';

const usage = `Sends through a running stack of its own while harm is done to it, and counts at the platform simulator what arrived:
no recipient twice, none lost, and none that is told as unknown at the end was reached (R13, R14).

npm run faults                                three numbers, two clients, 20,000 recipients (a twentieth of them get
                                              one-time codes), at most 30 minutes
npm run faults -- --recipients N --minutes N  fewer or more recipients (${mostRecipients} at most); 50 minutes at most
npm run faults -- --seed N                    the same choices again; when they meet what cannot be repeated
npm run faults -- --without KIND,KIND         spare it some of: ${mischiefKinds.join(', ')}
npm run faults -- --log FILE                  append what the functions and the queues say`;

const everyMs = 2_000;
/**
 * A message that a starting process received when it was killed is redelivered after this time. Deployed, it takes six
 * times the longest run of the function.
 */
const visibilitySeconds = 30;

/** The template is paused while this share of the recipients is pending. */
const pausedFrom = 0.9;
/**
 * The last recipients are spared. A message whose workers are killed five times goes to the dead-letter queue, as it
 * must.
 */
const peaceFrom = 0.05;
/** One-time codes are requested ahead of the rest, so that their last ones meet faults too. */
const codesAhead = 1.5;

interface Wanted {
  readonly recipients: number;
  readonly minutes: number;
  readonly seed: number;
  readonly kinds: readonly MischiefKind[];
  readonly log: string | undefined;
}

function wanted(): Wanted | undefined {
  const { values } = commandLine({
    options: {
      recipients: { type: 'string', default: '20000' },
      minutes: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(randomInt(10 ** 9)) },
      without: { type: 'string', default: '' },
      log: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const without = values.without.split(',').filter(Boolean);
  const stray = without.find((kind) => !mischiefKinds.some((known) => known === kind));
  if (stray !== undefined) throw new CommandError(`--without takes ${mischiefKinds.join(', ')}; not ${stray}.`);
  return {
    recipients: wholeNumber('recipients', values.recipients, mostRecipients),
    minutes: wholeNumber('minutes', values.minutes, 50),
    seed: wholeNumber('seed', values.seed, 10 ** 9),
    kinds: mischiefKinds.filter((kind) => !without.includes(kind)),
    log: values.log,
  };
}

function wholeNumber(option: string, text: string, most: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw new CommandError(`--${option} takes 1 to ${most}, not ${text}.`);
  return number;
}

interface Proven {
  readonly stack: RunningStack;
  readonly queues: StackQueues;
  readonly store: TroubledStore;
}

/** Throws a `CommandError` of status 1 when anything is not as it must be. */
async function prove({ stack, queues, store }: Proven, { recipients, minutes, seed, kinds }: Wanted): Promise<void> {
  const signal = interrupted;
  const { platformUrl } = stack.addresses;
  const clients = await prepareClients(stack, signal);
  const secrets = [...clients.values()].map((client) => client.receiveEvents(receiverUrl, receivedKinds));
  const events = await receiveEvents(stack.addresses.webhookReceiverPort, Promise.all(secrets));
  await queues.shortenVisibility(visibilitySeconds);

  const startedMs = performance.now();
  const endMs = startedMs + minutes * 60_000;
  const calm = new AbortController();
  const midway = Promise.withResolvers<void>();
  const campaign = campaignOf(clients, { count: recipients, chance: chanceOf(seed), signal });
  const accepting = campaign.acceptDispatches();
  const mischief = makeMischief({
    stack,
    queues,
    store,
    chance: chanceOf(seed + 1),
    kinds,
    turns: Math.min(500, Math.max(100, Math.ceil(recipients / 40))),
    numberIds,
    templateId: pausedTemplateId,
    midway: midway.promise,
    signal: AbortSignal.any([signal, calm.signal]),
  });
  // The error is awaited below, and must not end the process earlier.
  mischief.catch(() => undefined);
  const progress = progressOn(process.stdout);
  try {
    await accepting;
    const { dispatches, codes } = campaign;
    console.log(
      `${dispatches.length} dispatches accepted for ${recipients - codes} recipients; ${codes} one-time codes follow`,
    );
    // A failed fault ends the run, because a run without it would prove nothing.
    const failed = mischief.then(() => new Promise<never>(() => undefined));
    const onCounts = (counts: StateCounts) => {
      progress.show(counts);
      const left = (counts.pending + campaign.unaccepted()) / recipients;
      if (left <= pausedFrom) midway.resolve();
      if (left <= peaceFrom) calm.abort();
      return 1 - left;
    };
    await Promise.race([untilNothingIsPending(campaign, { onCounts, endMs }), failed]);
    calm.abort();
    const deeds = await mischief;
    await untilNothingIsUnderWay({ queues, platformUrl, endMs });
    const { audit, told } = await lastWord(dispatches, { platformUrl, endMs });
    progress.end();

    const [sending, states, deadLetters] = [
      await sendingAt(platformUrl, signal),
      await countsOf(dispatches),
      await queues.dead(),
    ];
    const seconds = (performance.now() - startedMs) / 1_000;
    if (states === undefined) throw new CommandError('The reports cannot be read.', 1);
    console.log(
      `\n${tableOfRun({
        ...{ deeds, troubled: store.met, sending, states, audit, codes, deadLetters, seconds },
        events: events.byId.size,
      })}`,
    );
    const faults = audited(audit);
    faults.push(...eventFaults(events, told, new Map(dispatches.map((dispatch) => [dispatch.dispatchId, dispatch]))));
    if (sending.duplicates.total > 0) faults.push(`${sending.duplicates.total} message ids were accepted twice`);
    if (performance.now() > endMs) faults.push(`${minutes} minutes were not enough`);
    const again = `npm run faults -- --recipients ${recipients} --seed ${seed}`;
    if (faults.length > 0) throw new CommandError(`\nThis must not be (${again}):\n${faults.join('\n')}`, 1);
    console.log('\nNo recipient twice, none lost; none that is unknown was reached.');
  } finally {
    progress.end();
    calm.abort();
    await mischief.catch(() => undefined);
    await events.stop();
  }
}

/** `onCounts` returns the share of the recipients that is done. */
async function untilNothingIsPending(
  { dispatches, acceptCodes, unaccepted }: Campaign,
  { onCounts, endMs }: { readonly onCounts: (counts: StateCounts) => number; readonly endMs: number },
): Promise<void> {
  const look = countsWatched(dispatches);
  for (;;) {
    const counts = await look();
    if (counts !== undefined) await acceptCodes(Math.min(1, codesAhead * onCounts(counts)));
    if ((counts?.pending === 0 && unaccepted() === 0) || performance.now() > endMs) return;
    await pause(everyMs, undefined, { signal: interrupted });
  }
}

/** Copies in the queues and statuses at the simulator could still show that a recipient was sent to twice. */
async function untilNothingIsUnderWay(options: {
  readonly queues: StackQueues;
  readonly platformUrl: string;
  readonly endMs: number;
}): Promise<void> {
  const { queues, platformUrl, endMs } = options;
  const signal = interrupted;
  while (performance.now() < endMs) {
    // Counts of costs wait in `watch` for minutes, and send nothing.
    const held = await queues.held(['dispatch', 'urgent', 'receipts', 'events']);
    const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/webhooks?limit=0', signal });
    const { planned, due } = json as { readonly planned: number; readonly due: number };
    if (held + planned + due === 0) return;
    await pause(everyMs, undefined, { signal });
  }
}

/** The last receipts still reach the reports, so this polls while a recipient that was reached is unknown. */
async function lastWord(
  dispatches: readonly Dispatch[],
  { platformUrl, endMs }: { readonly platformUrl: string; readonly endMs: number },
) {
  for (let look = 1; ; look += 1) {
    const told = await toldOf(dispatches);
    const audit = auditOf(told, await takenAt(platformUrl, interrupted));
    if (audit.unknownTaken.length === 0 || look === 10 || performance.now() > endMs) return { audit, told };
    await pause(everyMs, undefined, { signal: interrupted });
  }
}

async function run(): Promise<void> {
  const options = wanted();
  if (options === undefined) return console.log(usage);
  const { recipients, seed, kinds } = options;
  console.log(`seed ${seed}: ${recipients} recipients, ${kinds.join(', ') || 'no harm'}`);
  const log = options.log === undefined ? undefined : callersPath(options.log);
  const note = (line: string) => {
    if (log !== undefined) appendFileSync(log, `${line}\n`);
  };
  const chosen = chosenDynamoDb({ ...process.env, DATA: '', AWS_ENDPOINT_URL_DYNAMODB: '' });
  if ('endpoint' in chosen) throw new CommandError('a server that runs already is not harmed', 1);
  const tables = await startDynamoDb(chosen.engine, { signal: interrupted });
  const store = await startTroubledStore(tables.endpoint, seededRandom(seed + 2));
  const own = {
    ...{ name: 'faults', needsWebhooks: true, dynamodb: { endpoint: store.endpoint }, sqsEndpoint: undefined },
    ...{ report: note, signal: interrupted },
    onLog: ({ functionName, text }: FunctionLogLine) => note(`${functionName} | ${text}`),
  };
  try {
    await onOwnStack(own, async (stack) => {
      const queues = stackQueues(stack);
      try {
        await prove({ stack, queues, store }, options);
      } finally {
        queues.close();
      }
    });
  } finally {
    await store.stop();
    await tables.stop();
  }
}

await proofCommand(run);
