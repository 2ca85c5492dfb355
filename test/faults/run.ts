import { randomInt } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { CommandError, callersPath, commandLine } from '../../infra/operate/command.ts';
import { proofCommand } from '../proof/command.ts';
import { type LocalTrial, locally } from '../proof/trial/local-trial.ts';
import { playAll } from '../proof/trial/play.ts';
import { sendingAt } from '../proof/trial/record.ts';
import { seededRandom } from '../support/faults.ts';
import { besideOlder } from './running/beside-older.ts';
import { campaignOf, dids, mostRecipients, numberIds, prepareClients } from './running/campaign.ts';
import { chanceOf } from './running/chance.ts';
import { type MischiefKind, makeMischief, mischiefKinds } from './running/mischief.ts';
import { tableOfRun } from './running/table.ts';

const usage = `Sends through a running stack of its own while harm is done to it, and counts at the platform simulator what arrived:
no recipient twice, none lost, and none that is told as unknown at the end was reached (R13, R14).

npm run faults                                three numbers, two clients, 20,000 recipients (a twentieth of them get
                                              one-time codes), at most 30 minutes
npm run faults -- --recipients N --minutes N  fewer or more recipients (${mostRecipients} at most); 90 minutes at most
npm run faults -- --seed N                    the same choices again; when they meet what cannot be repeated
npm run faults -- --pace N                    each number sends N a second at most, for a machine that is busy
npm run faults -- --without KIND,KIND         spare it some of: ${mischiefKinds.join(', ')}
npm run faults -- --beside COMMIT             every second process of a function with a canary runs an older commit
npm run faults -- --log FILE                  append what the functions and the queues say`;

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
  readonly pace: number | undefined;
  readonly kinds: readonly MischiefKind[];
  readonly beside: string | undefined;
  readonly log: string | undefined;
}

function wanted(): Wanted | undefined {
  const { values } = commandLine({
    options: {
      recipients: { type: 'string', default: '20000' },
      minutes: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(randomInt(10 ** 9)) },
      pace: { type: 'string' },
      without: { type: 'string', default: '' },
      beside: { type: 'string' },
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
    minutes: wholeNumber('minutes', values.minutes, 90),
    seed: wholeNumber('seed', values.seed, 10 ** 9),
    pace: values.pace === undefined ? undefined : wholeNumber('pace', values.pace, 1_000),
    kinds: mischiefKinds.filter((kind) => !without.includes(kind)),
    beside: values.beside,
    log: values.log,
  };
}

function wholeNumber(option: string, text: string, most: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw new CommandError(`--${option} takes 1 to ${most}, not ${text}.`);
  return number;
}

/** Throws when anything is not as it must be. */
async function prove(trial: LocalTrial, { recipients, seed, pace, kinds, beside }: Wanted): Promise<void> {
  const { signal, dispatches } = trial;
  const older = beside === undefined ? undefined : besideOlder(trial.stack, beside);
  const clients = await prepareClients(trial);
  await trial.queues.shortenVisibility(visibilitySeconds);
  if (pace !== undefined)
    for (const did of dids) await trial.operate(`infra/ops number ${did} --limit ${pace} --for 4h`);

  const startedMs = performance.now();
  const calm = new AbortController();
  const midway = Promise.withResolvers<void>();
  const campaign = campaignOf(clients, { count: recipients, chance: chanceOf(seed), dispatches, signal });
  const accepting = campaign.acceptDispatches();
  const mischief = makeMischief({
    trial,
    chance: chanceOf(seed + 1),
    kinds,
    turns: Math.min(500, Math.max(100, Math.ceil(recipients / 40))),
    numberIds,
    midway: midway.promise,
    signal: AbortSignal.any([signal, calm.signal]),
  });
  // The error is awaited below, and must not end the process earlier.
  mischief.catch(() => undefined);
  try {
    await accepting;
    const { codes } = campaign;
    console.log(
      `${dispatches.length} dispatches accepted for ${recipients - codes} recipients; ${codes} one-time codes follow`,
    );
    // A failed fault ends the run, because a run without it would prove nothing.
    const failed = mischief.then(() => new Promise<never>(() => undefined));
    const goOn = async ({ pending }: { readonly pending: number }) => {
      const left = (pending + campaign.unaccepted()) / recipients;
      if (left <= pausedFrom) midway.resolve();
      if (left <= peaceFrom) calm.abort();
      await campaign.acceptCodes(Math.min(1, codesAhead * (1 - left)));
      return campaign.unaccepted() > 0;
    };
    await Promise.race([trial.ended(goOn), failed]);
    calm.abort();
    const deeds = await mischief;
    if (older !== undefined) deeds.set('processes of the older commit', older());
    // What harm has made dead letters is sent again as the run book says.
    const deadLetters = await trial.queues.dead();
    for (const queue of deadLetters.keys()) await trial.operate(`infra/ops redrive ${queue} --yes`);
    const verdict = await trial.compared();
    const sending = await sendingAt(trial.platformUrl, signal);
    const seconds = (performance.now() - startedMs) / 1_000;
    const { store, events } = trial;
    const ending = {
      deeds,
      troubled: store.met,
      events: events.byId.size,
      sending,
      verdict,
      codes,
      deadLetters,
      seconds,
    };
    console.log(`\n${tableOfRun(ending)}`);
    const again = `npm run faults -- --recipients ${recipients} --seed ${seed}`;
    if (verdict.faults.length > 0) throw new Error(`This must not be (${again}):\n${verdict.faults.join('\n')}`);
    console.log('\nNo recipient twice, none lost; none that is unknown was reached.');
  } finally {
    calm.abort();
    await mischief.catch(() => undefined);
  }
}

async function run(): Promise<void> {
  const options = wanted();
  if (options === undefined) return console.log(usage);
  const { recipients, minutes, seed, kinds } = options;
  const log = options.log === undefined ? undefined : callersPath(options.log);
  const faults = locally({
    name: 'faults',
    incident: `seed ${seed}: ${recipients} recipients, ${kinds.join(', ') || 'no harm'}`,
    minutes,
    random: seededRandom(seed + 2),
    onLine: (line) => {
      if (log !== undefined) appendFileSync(log, `${line}\n`);
    },
    play: (trial) => prove(trial, options),
  });
  await playAll([faults]);
}

await proofCommand(run);
