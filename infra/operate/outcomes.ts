import type { parseArgs } from 'node:util';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { storePause } from '../../lib/aws/pause.ts';
import { jobIdPattern } from '../../lib/messages/job.ts';
import type { DescribedJob } from '../../lib/messages/report/described-job.ts';
import { type Outcomes, outcomesStore, type Period } from '../../lib/messages/report/outcomes-store.ts';
import type { MessageKey } from '../../lib/messages/report/resolve-unknown.ts';
import { countJobs } from '../../lib/messages/spend/count-jobs.ts';
import { spendStore } from '../../lib/messages/spend/spend-store.ts';
import { shippedRates } from '../../lib/pricing/rates.ts';
import { ratesStore } from '../../lib/pricing/rates-store.ts';
import { CommandError, commandLine, runCommand } from './command.ts';
import { heldAsJson, heldAsLines, heldBy, holdInWords, type ListedNumber } from './holds-output.ts';
import { type OpenHolds, openHolds } from './open-holds.ts';
import { auditOf, type OperatorAudit } from './operator-audit.ts';
import { asJson, asTables, type JobOutcomes, rowOf } from './outcomes-output.ts';
import { targetOf } from './target.ts';
import { timeSpanMs } from './time-span.ts';

const usage = `What became of messages.

npm run outcomes -- --dispatch ID                     a job id, or one message as <job id>-<index>
npm run outcomes -- --since 1h                        every job accepted in that time (m, h, d), of every DID or of --did
npm run outcomes -- --did DID --from TIME --to TIME   every job of a DID accepted in that time (ISO 8601, UTC),
                                                      of the clients that may send from it now
npm run outcomes -- --held                            what nothing leaves for (a template, a number, an account, the platform),
                                                      why, and the jobs that wait: all, or those of --since
npm run outcomes -- --held --end SCOPE                end such a hold once its cause is removed; SCOPE as --held spells it
npm run outcomes -- --resolve ID sent|failed          settle one unknown message by hand; nothing is sent

  --all          list everybody (otherwise held, failed, expired and unknown ones)
  --json         the same as JSON
  --stage NAME   a deployment on AWS; without it, the running local stack

The states are those of the report. An unknown message is never sent again by this command: to send it again, resolve it
as failed and retry its dispatch (POST .../retry) with codes ["resolved_by_operator"]. Below the table stands the line
that settles each.`;

const options = {
  dispatch: { type: 'string' },
  did: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  since: { type: 'string' },
  held: { type: 'boolean' },
  end: { type: 'string' },
  resolve: { type: 'string' },
  all: { type: 'boolean' },
  json: { type: 'boolean' },
  stage: { type: 'string' },
  help: { type: 'boolean' },
} as const;

type Wanted = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;

export interface OutcomesStage {
  readonly outcomes: Outcomes;
  readonly holds: OpenHolds;
  readonly listWabaIds: () => Promise<readonly string[]>;
  readonly listNumbers: () => Promise<readonly (ListedNumber & { readonly wabaId: string })[]>;
  /** Counts the costs of a dispatch again (D58); it is idempotent. */
  readonly countCost: (jobId: string) => Promise<void>;
  /** Returns the clients that may send from a DID; empty for an unknown one. */
  readonly clientsOf: (did: string) => Promise<readonly number[]>;
  readonly audit: OperatorAudit;
  readonly nowMs: () => number;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 when nothing was found or nothing could be
 * resolved.
 */
export async function outcomesCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => OutcomesStage | Promise<OutcomesStage>,
  print: (line: string) => void,
): Promise<void> {
  const wanted = commandLine({ args: [...typed], options, allowPositionals: true });
  if (wanted.values.help) print(usage);
  else if (wanted.values.resolve !== undefined) await resolve(wanted, await open(wanted.values.stage), print);
  else if (wanted.values.end !== undefined) await endHold(wanted, await open(wanted.values.stage), print);
  else {
    const [stray] = wanted.positionals;
    if (stray !== undefined)
      throw new CommandError(`${stray} belongs to no option; name a job with --dispatch ${stray}`);
    await (wanted.values.held ? listHeld : list)(wanted, await open(wanted.values.stage), print);
  }
}

/**
 * No receipt may follow that would count the cost, so this does. A repetition completes a command that died in between.
 */
async function resolve(
  wanted: Wanted,
  { outcomes, countCost, audit }: OutcomesStage,
  print: (line: string) => void,
): Promise<void> {
  const key = messageKey(wanted.values.resolve ?? '');
  const state = wanted.positionals[0];
  if (key === undefined) throw new CommandError('--resolve takes the id of one message, <job id>-<index>');
  if (state !== 'sent' && state !== 'failed') throw new CommandError('--resolve ID must be followed by sent or failed');
  const isSettled = await audit('command.outcome_resolve', { jobId: key.jobId, how: state, count: 1 }, async () => {
    const settled = await outcomes.resolve(key, state);
    await countCost(key.jobId);
    return settled;
  });
  if (!isSettled) {
    const row = rowOf(await outcomes.ofMessage(key));
    throw new CommandError(`Not changed, the outcome is not unknown: ${row}`, 1);
  }
  print(`${wanted.values.resolve} is now ${state}`);
}

async function list(wanted: Wanted, stage: OutcomesStage, print: (line: string) => void): Promise<void> {
  const { json, stage: stageName } = wanted.values;
  const key = messageKey(wanted.values.dispatch ?? '');
  const found: JobOutcomes[] = [];
  for (const job of await jobsOf(wanted, { key }, stage)) found.push(await outcomesOf(job, { wanted, key, stage }));
  const [first] = found;
  if (first === undefined) throw notFound();
  if (key !== undefined && first.shown.length === 0) throw noSuchMessage(key, first);
  if (json) print(JSON.stringify(found.map(asJson), null, 2));
  else for (const line of asTables(found, { only: key !== undefined, stage: stageName })) print(line);
}

async function outcomesOf(
  job: DescribedJob,
  {
    wanted,
    key,
    stage,
  }: { readonly wanted: Wanted; readonly key: MessageKey | undefined; readonly stage: OutcomesStage },
): Promise<JobOutcomes> {
  const { all, dispatch } = wanted.values;
  const outcomes = await stage.outcomes.ofJob(job);
  const shown = outcomes.filter(({ dispatchId, state }) =>
    key === undefined ? all || !asWished.includes(state) : dispatchId === dispatch,
  );
  return { job, outcomes, shown };
}

/** A DID limits the list to the holds of its WABA and of the platform. */
async function listHeld(wanted: Wanted, stage: OutcomesStage, print: (line: string) => void): Promise<void> {
  const { dispatch, did, json, stage: stageName } = wanted.values;
  if (dispatch !== undefined) throw new CommandError('--held shows no single job; --dispatch alone does');
  const parked: JobOutcomes[] = [];
  const unreadable: string[] = [];
  for (const job of await jobsOf(wanted, { unreadable }, stage)) {
    parked.push(await outcomesOf(job, { wanted, key: undefined, stage }));
  }
  const numbers = await stage.listNumbers();
  const provisioned =
    did === undefined
      ? await stage.listWabaIds()
      : numbers.filter((number) => number.did === did).map(({ wabaId }) => wabaId);
  // A dispatch outlives its number and its WABA in the directory.
  const wabaIds = new Set([...provisioned, ...parked.map(({ job }) => job.head.wabaId)]);
  const held = heldBy(await stage.holds.list([...wabaIds]), parked);
  if (json) print(JSON.stringify(heldAsJson(held), null, 2));
  else for (const line of heldAsLines(held, { numbers, stage: stageName })) print(line);
  if (unreadable.length > 0)
    throw new CommandError(
      `${unreadable.length} jobs cannot be read, and may wait as well: ${unreadable.join(', ')}`,
      1,
    );
}

async function endHold(wanted: Wanted, stage: OutcomesStage, print: (line: string) => void): Promise<void> {
  const { held, end } = wanted.values;
  if (!held || wanted.positionals.length > 0) {
    throw new CommandError("--end goes with --held, and takes what that shows as one word: --end 'waba 2000'");
  }
  const open = await stage.holds.list(await stage.listWabaIds());
  const hold = open.find((each) => holdInWords(each) === end);
  if (hold === undefined) {
    const others = open.map((each) => `'${holdInWords(each)}'`).join(', ');
    throw new CommandError(`Not held: ${end}${others === '' ? '; nothing is' : `; held: ${others}`}`, 1);
  }
  const isEnded = await stage.audit('command.hold_end', { scope: holdInWords(hold) }, () => stage.holds.end(hold));
  if (!isEnded) throw new CommandError(`Not ended, others write at the same time: try again`, 1);
  print(`Held no more: ${end}. What waits for it goes on by itself within minutes.`);
}

const asWished: readonly string[] = ['sent', 'delivered', 'read', 'pending'];

async function jobsOf(
  wanted: Wanted,
  { key, unreadable = [] }: { readonly key?: MessageKey | undefined; readonly unreadable?: string[] },
  stage: OutcomesStage,
): Promise<DescribedJob[]> {
  const { dispatch, did, from, to, since, held } = wanted.values;
  const { outcomes, clientsOf, nowMs } = stage;
  const jobsFrom = async (each: string, period: Period) => {
    const from = { did: each, clientIds: await clientsOf(each) };
    return await (held
      ? outcomes.listParked(from, period, (id) => unreadable.push(id))
      : outcomes.listJobs(from, period));
  };
  // A scheduled send may wait weeks after its acceptance (D56).
  const isOfAnyTime = held && from === undefined && to === undefined;
  if (dispatch !== undefined) {
    const job = await outcomes.findJob(key?.jobId ?? dispatch);
    return job === undefined ? [] : [job];
  }
  if (since === undefined && !isOfAnyTime) {
    const asked = required(did, '--did');
    return await jobsFrom(asked, { fromMs: timeMs(from, '--from'), toMs: timeMs(to, '--to') });
  }
  if (from !== undefined || to !== undefined) throw new CommandError('--since stands for --from and --to');
  const period = { fromMs: since === undefined ? 0 : nowMs() - durationMs(since), toMs: nowMs() + 1 };
  const jobs: DescribedJob[] = [];
  const dids = did === undefined ? (await stage.listNumbers()).map((number) => number.did) : [did];
  for (const each of [...new Set(dids)].sort()) jobs.push(...(await jobsFrom(each, period)));
  return jobs;
}

function notFound(): CommandError {
  return new CommandError('Nothing found: no such job, or it is older than 30 days.', 1);
}

/** Dropped duplicates leave gaps in the numbers of messages. */
function noSuchMessage({ jobId, index }: MessageKey, { outcomes }: JobOutcomes): CommandError {
  const all = `npm run outcomes -- --dispatch ${jobId} --all`;
  return new CommandError(`The job ${jobId} has no message ${index}; it has ${outcomes.length}: ${all}`, 1);
}

function messageKey(id: string): MessageKey | undefined {
  const match = /^(.+)-(\d{1,5})$/.exec(id);
  const jobId = match?.[1] ?? '';
  return jobIdPattern.test(jobId) ? { jobId, index: Number(match?.[2]) } : undefined;
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new CommandError(`${name} is missing`);
  return value;
}

function timeMs(value: string | undefined, name: string): number {
  const parsed = Date.parse(required(value, name));
  if (Number.isNaN(parsed)) throw new CommandError(`${name} is not a time: ${value}`);
  return parsed;
}

function durationMs(value: string): number {
  const ms = timeSpanMs(value);
  if (ms === undefined) throw new CommandError(`--since takes a time such as 30m, 1h or 2d, not ${value}`);
  return ms;
}

if (import.meta.main) {
  await runCommand(() => outcomesCommand(process.argv.slice(2), openStage, console.log));
}

async function openStage(stage: string | undefined): Promise<OutcomesStage> {
  const target = await targetOf(stage);
  const { documentClient: client, tableName } = target;
  const directory = directoryStore(client, tableName('directory'));
  const messages = { client, table: tableName('messages'), nowMs: Date.now };
  const ledger = spendStore({ documentClient: client, tableName: messages.table, pause: storePause }, Date.now);
  const stored = ratesStore(client, tableName('rates'));
  const rates = async () => [shippedRates, ...(await stored.find())] as const;
  const ofClients = async <T>(list: (clientId: number) => Promise<T[]>) =>
    (await Promise.all((await directory.listClientIds()).map(list))).flat();
  return {
    outcomes: outcomesStore({ ...messages, pause: storePause }),
    holds: openHolds(messages),
    audit: auditOf(target, stage),
    listWabaIds: async () => [...new Set((await ofClients(directory.listWabas)).map(({ wabaId }) => wabaId))].sort(),
    listNumbers: () => ofClients(directory.listChannels),
    countCost: (jobId) => countJobs([jobId], { ledger, rates, nowMs: Date.now, readsSlices: true }),
    clientsOf: async (did) => (await directory.findDid(did))?.waba.clientIds ?? [],
    nowMs: Date.now,
  };
}
