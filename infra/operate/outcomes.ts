import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { DispatchKey } from '../../lib/messages/claim.ts';
import { countOutcomes, type Outcome, outcomeStates } from '../../lib/messages/outcome.ts';
import { type Outcomes, outcomesStore } from '../../lib/messages/outcomes-store.ts';
import { runCommand } from './command.ts';
import { targetOf } from './target.ts';

const usage = `What became of messages.

npm run outcomes -- --dispatch ID                     a job id, or one message as <job id>-<index>
npm run outcomes -- --did DID --from TIME --to TIME   every job of a DID accepted in that time (ISO 8601, UTC)
npm run outcomes -- --resolve ID sent|failed          settle one unknown message by hand; nothing is sent

  --all          list sent and pending recipients too (otherwise failed, expired and unknown ones)
  --stage NAME   a deployment on AWS; without it, the running local stack

An unknown message is never sent again by this command: to send it again, resolve it as failed and post a new request.`;

const options = {
  dispatch: { type: 'string' },
  did: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  resolve: { type: 'string' },
  all: { type: 'boolean' },
  stage: { type: 'string' },
  help: { type: 'boolean' },
} as const;

class UsageFault extends Error {}

type Wanted = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;

/** Answers one command line; returns the exit status: 0 answered, 1 nothing found or nothing resolved, 2 wrong usage. */
export async function runOutcomes(
  commandLine: readonly string[],
  open: (stage: string | undefined) => Outcomes,
  print: (line: string) => void,
): Promise<number> {
  try {
    const wanted = parseArgs({ args: [...commandLine], options, allowPositionals: true });
    if (wanted.values.help) {
      print(usage);
      return 0;
    }
    if (wanted.values.resolve !== undefined) return await resolve(wanted, open(wanted.values.stage), print);
    return await list(wanted, open(wanted.values.stage), print);
  } catch (error) {
    if (!(error instanceof UsageFault || (error instanceof TypeError && 'code' in error))) throw error;
    print(`${error.message}\n\n${usage}`);
    return 2;
  }
}

function openOutcomes(stage: string | undefined): Outcomes {
  const target = targetOf(stage);
  return outcomesStore({
    client: target.documentClient,
    table: target.tableName('messages'),
    nowMs: Date.now,
    pause: (ms) => pause(ms),
  });
}

async function resolve(wanted: Wanted, outcomes: Outcomes, print: (line: string) => void): Promise<number> {
  const key = messageKey(wanted.values.resolve ?? '');
  const state = wanted.positionals[0];
  if (key === undefined) throw new UsageFault('--resolve takes the id of one message, <job id>-<index>');
  if (state !== 'sent' && state !== 'failed') throw new UsageFault('--resolve ID must be followed by sent or failed');
  if (await outcomes.resolve(key, state)) {
    print(`${wanted.values.resolve} is now ${state}`);
    return 0;
  }
  print(`not changed, the outcome is not unknown: ${describe(await outcomes.ofMessage(key))}`);
  return 1;
}

async function list(wanted: Wanted, outcomes: Outcomes, print: (line: string) => void): Promise<number> {
  const { dispatch, did, from, to, all } = wanted.values;
  const key = dispatch === undefined ? undefined : messageKey(dispatch);
  if (key !== undefined) {
    if ((await outcomes.findJob(key.jobId)) === undefined) return notFound(print);
    print(describe(await outcomes.ofMessage(key)));
    return 0;
  }
  const jobs =
    dispatch === undefined
      ? await outcomes.listJobs(required(did, '--did'), { fromMs: timeMs(from, '--from'), toMs: timeMs(to, '--to') })
      : [await outcomes.findJob(dispatch)].filter((job) => job !== undefined);
  if (jobs.length === 0) return notFound(print);
  const found: Outcome[] = [];
  for (const job of jobs) {
    const ofJob = await outcomes.ofJob(job);
    found.push(...ofJob);
    print(`job ${job.jobId}, accepted ${new Date(job.acceptedAtMs).toISOString()}, template ${job.templateName}`);
    for (const outcome of ofJob) {
      if (all || !['sent', 'pending'].includes(outcome.state)) print(`  ${describe(outcome)}`);
    }
  }
  const counts = countOutcomes(found);
  print(`total ${found.length}: ${outcomeStates.map((state) => `${counts[state]} ${state}`).join(', ')}`);
  return 0;
}

function notFound(print: (line: string) => void): number {
  print('nothing found: no such job, or its fan-out has not started yet, or it is older than 30 days');
  return 1;
}

function describe({ dispatchId, state, to, code, reason, platformMessageId }: Outcome): string {
  return [dispatchId, to, state, code, reason, platformMessageId].filter((part) => part !== undefined).join('  ');
}

function messageKey(id: string): DispatchKey | undefined {
  const match = /^([0-9A-Z]{26})-(\d{1,5})$/.exec(id);
  return match?.[1] === undefined ? undefined : { jobId: match[1], index: Number(match[2]) };
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new UsageFault(`${name} is missing`);
  return value;
}

function timeMs(value: string | undefined, name: string): number {
  const parsed = Date.parse(required(value, name));
  if (Number.isNaN(parsed)) throw new UsageFault(`${name} is not a time: ${value}`);
  return parsed;
}

if (import.meta.main) {
  await runCommand(async () => {
    process.exitCode = await runOutcomes(process.argv.slice(2), openOutcomes, console.log);
  });
}
