import type { parseArgs } from 'node:util';
import { storePause } from '../../lib/aws/pause.ts';
import type { DispatchKey } from '../../lib/messages/dispatch/claim.ts';
import { countOutcomes, type Outcome, outcomeStates } from '../../lib/messages/outcomes/outcome.ts';
import { type Outcomes, outcomesStore } from '../../lib/messages/outcomes/outcomes-store.ts';
import { CommandError, commandLine, runCommand } from './command.ts';
import { targetOf } from './target.ts';

const usage = `What became of messages.

npm run outcomes -- --dispatch ID                     a job id, or one message as <job id>-<index>
npm run outcomes -- --did DID --from TIME --to TIME   every job of a DID accepted in that time (ISO 8601, UTC)
npm run outcomes -- --resolve ID sent|failed          settle one unknown message by hand; nothing is sent

  --all          list sent and pending recipients too (otherwise held, failed, expired and unknown ones)
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

type Wanted = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;

/**
 * Answers one command line. `open` reaches the stage named on it. Throws `CommandError`: status 1 when nothing was found
 * or nothing could be resolved, 2 for a wrong usage.
 */
export async function outcomesCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => Outcomes | Promise<Outcomes>,
  print: (line: string) => void,
): Promise<void> {
  const wanted = commandLine({ args: [...typed], options, allowPositionals: true });
  if (wanted.values.help) print(usage);
  else if (wanted.values.resolve !== undefined) await resolve(wanted, await open(wanted.values.stage), print);
  else {
    const [stray] = wanted.positionals;
    if (stray !== undefined)
      throw new CommandError(`${stray} belongs to no option; name a job with --dispatch ${stray}`);
    await list(wanted, await open(wanted.values.stage), print);
  }
}

async function resolve(wanted: Wanted, outcomes: Outcomes, print: (line: string) => void): Promise<void> {
  const key = messageKey(wanted.values.resolve ?? '');
  const state = wanted.positionals[0];
  if (key === undefined) throw new CommandError('--resolve takes the id of one message, <job id>-<index>');
  if (state !== 'sent' && state !== 'failed') throw new CommandError('--resolve ID must be followed by sent or failed');
  if (!(await outcomes.resolve(key, state))) {
    throw new CommandError(`Not changed, the outcome is not unknown: ${describe(await outcomes.ofMessage(key))}`, 1);
  }
  print(`${wanted.values.resolve} is now ${state}`);
}

async function list(wanted: Wanted, outcomes: Outcomes, print: (line: string) => void): Promise<void> {
  const { dispatch, did, from, to, all } = wanted.values;
  const key = dispatch === undefined ? undefined : messageKey(dispatch);
  if (key !== undefined) {
    if ((await outcomes.findJob(key.jobId)) === undefined) throw notFound();
    print(describe(await outcomes.ofMessage(key)));
    return;
  }
  const jobs =
    dispatch === undefined
      ? await outcomes.listJobs(required(did, '--did'), { fromMs: timeMs(from, '--from'), toMs: timeMs(to, '--to') })
      : [await outcomes.findJob(dispatch)].filter((job) => job !== undefined);
  if (jobs.length === 0) throw notFound();
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
}

function notFound(): CommandError {
  return new CommandError('Nothing found: no such job, or its fan-out has not begun, or it is older than 30 days.', 1);
}

function describe({ dispatchId, state, to, code, reason, platformMessageId }: Outcome): string {
  return [dispatchId, to, state, code, reason, platformMessageId].filter((part) => part !== undefined).join('  ');
}

function messageKey(id: string): DispatchKey | undefined {
  const match = /^([0-9A-Z]{26})-(\d{1,5})$/.exec(id);
  return match?.[1] === undefined ? undefined : { jobId: match[1], index: Number(match[2]) };
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

if (import.meta.main) {
  await runCommand(() => outcomesCommand(process.argv.slice(2), openStage, console.log));
}

async function openStage(stage: string | undefined): Promise<Outcomes> {
  const { documentClient: client, tableName } = await targetOf(stage);
  return outcomesStore({ client, table: tableName('messages'), nowMs: Date.now, pause: storePause });
}
