import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import type { RunningStack } from '../../infra/local/stack.ts';
import type { BarePosts } from './bare-sender.ts';
import { median, report } from './figure.ts';
import { type FunctionProcess, startFunction } from './function-process.ts';
import { startMeteringProxy } from './metering-proxy.ts';
import { type OwnSenders, ownSenders, postings, wakeEvent } from './own-senders.ts';

/** The code of a small request gets faster for some hundred requests. */
const warmUps = { campaign: 5, code: 150 } as const;
const rounds = { campaign: 15, code: 40 } as const;
const requestRounds = 5;
const few = 20;
const many = 320;
/** An aim that is not reached yet has a limit a tenth above what was found. */
const limits = {
  campaignToFetch: { aim: 2, limit: 2 },
  codeToFetch: { aim: 6, limit: 6.5 },
  requestsOfCode: { aim: 8, limit: 6 },
  requestsOfCodeNotBegun: { aim: 8, limit: 8 },
  frames: { campaign: { aim: 8, limit: 8 }, code: { aim: 8, limit: 13 } },
} as const;
const bareProgram = new URL('bare-sender.ts', import.meta.url).pathname;
const framesProgram = new URL('call-frames.ts', import.meta.url).pathname;

/**
 * Measures what a sender and the worker of small requests compute, by the built bundles in processes of their own,
 * before the stack's tables, queues and simulator. The number is idle. Ratios are those of rounds that take turns.
 */
export async function benchWorker(stack: RunningStack, signal: AbortSignal): Promise<void> {
  const own = await ownSenders(stack, 'worker', signal);
  const processes = [
    own.start('messages-dispatch'),
    own.start('messages-dispatch-urgent'),
    startFunction(stack, 'messages-dispatch', { program: bareProgram }),
  ] as const;
  try {
    await benchSender(own, processes);
    await benchCodes(own, processes);
  } finally {
    for (const each of processes) each.stop();
  }
  await benchRequests(stack, own);
  await benchFrames(own);
}

type Processes = readonly [sender: FunctionProcess, worker: FunctionProcess, bare: FunctionProcess];

async function benchSender(own: OwnSenders, [sender, , bare]: Processes): Promise<void> {
  const taken = await inTurns('campaign', {
    few: () => senderMs(own, sender, few),
    many: () => senderMs(own, sender, many),
    fetch: () => bareMs(bare, 'fetch', many),
    http: () => bareMs(bare, 'http', many),
  });
  const ofMessage = (median(taken.many) - median(taken.few)) / (many - few);
  report({ figure: 'worker.processor_ms_of_a_message', value: ofMessage, unit: 'ms' });
  const ofRun = median(taken.few) - few * ofMessage;
  report({ figure: 'worker.processor_ms_of_a_run_beside', value: ofRun, unit: 'ms' });
  const figure = `worker.processor_time_of_a_campaign_of_${many}`;
  reportAimed(`${figure}_to_fetch`, ratio(taken.many, taken.fetch), limits.campaignToFetch, 'ratio');
  report({ figure: `${figure}_to_http`, value: ratio(taken.many, taken.http), unit: 'ratio' });
}

async function benchCodes(own: OwnSenders, [, worker, bare]: Processes): Promise<void> {
  const taken = await inTurns('code', {
    one: () => codesMs(own, worker, 1),
    ten: () => codesMs(own, worker, 10),
    fetch: () => bareMs(bare, 'fetch', 1),
    http: () => bareMs(bare, 'http', 1),
  });
  report({ figure: 'worker.processor_ms_of_a_run_of_one_code', value: median(taken.one), unit: 'ms' });
  report({ figure: 'worker.processor_ms_of_a_run_of_ten_codes', value: median(taken.ten), unit: 'ms' });
  const figure = 'worker.processor_time_of_a_code';
  reportAimed(`${figure}_to_fetch`, ratio(taken.one, taken.fetch), limits.codeToFetch, 'ratio');
  report({ figure: `${figure}_to_http`, value: ratio(taken.one, taken.http), unit: 'ratio' });
}

/** Counts the requests of a code's worker to the table, in a warm process. */
async function benchRequests({ addresses }: RunningStack, own: OwnSenders): Promise<void> {
  const dynamodb = await startMeteringProxy(addresses.dynamodbEndpoint);
  const worker = own.start('messages-dispatch-urgent', { addresses: { dynamodbEndpoint: dynamodb.endpoint } });
  try {
    for (const [what, limit, begun] of [
      ['a_code', limits.requestsOfCode, true],
      ['a_code_that_acceptance_has_not_begun', limits.requestsOfCodeNotBegun, false],
    ] as const) {
      const counts: number[] = [];
      for (let round = 0; round < requestRounds; round += 1) {
        // A second code of the same second finds its counter only at a second try.
        await pause(1_100);
        const event = await own.codesEvent(1, { begun });
        dynamodb.taken();
        await allTaken(own, 1, () => worker.run(event));
        counts.push(dynamodb.taken().requests);
      }
      reportAimed(`worker.store_requests_of_${what}`, median(counts), limit, 'requests');
    }
  } finally {
    worker.stop();
    dynamodb.stop();
  }
}

const FramesSchema = v.object({ frames: v.array(v.string()) });

/** Functions run from their sources here, because a bundle has lost the names of its files. */
async function benchFrames(own: OwnSenders): Promise<void> {
  // Beside a sender a code may find no place, so it comes first.
  for (const [name, what] of [
    ['messages-dispatch-urgent', 'code'],
    ['messages-dispatch', 'campaign'],
  ] as const) {
    const source = own.start(name, { program: framesProgram, variables: { SOURCE_OF_FUNCTION: name } });
    try {
      if (what === 'campaign') await own.accept(few);
      const { answer } = await source.run(what === 'campaign' ? wakeEvent() : await own.codesEvent(1, { begun: true }));
      const { frames } = v.parse(FramesSchema, answer);
      if (process.env['SHOW_FRAMES'] !== undefined) console.error(frames.join('\n'));
      if (frames.length === 0) throw new Error(`no call of a ${what} was seen`);
      reportAimed(`worker.frames_below_the_call_of_a_${what}`, frames.length, limits.frames[what], 'frames');
    } finally {
      source.stop();
    }
  }
}

function reportAimed(
  figure: string,
  value: number,
  { aim, limit }: { readonly aim: number; readonly limit: number },
  unit: string,
): void {
  report({ figure, value, limit, unit: aim === limit ? unit : `${unit}, aimed at ${aim}` });
}

/** Each measurement is made once a round, so that all of them see the machine as busy as the others do. */
async function inTurns<Name extends string>(
  what: keyof typeof rounds,
  measures: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(measures) as Name[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < warmUps[what] + rounds[what]; round += 1) {
    for (const name of names) {
      const value = await measures[name]();
      if (round >= warmUps[what]) taken[name].push(value);
    }
  }
  return taken;
}

const ratio = (of: readonly number[], to: readonly number[]) => median(of.map((value, at) => value / (to[at] ?? 0)));

const NothingFailedSchema = v.object({ batchItemFailures: v.strictTuple([]) });

async function senderMs(own: OwnSenders, sender: FunctionProcess, recipients: number): Promise<number> {
  await own.accept(recipients);
  return await allTaken(own, recipients, () => sender.run(wakeEvent()));
}

/** The last milliseconds of a second have too few places for all codes: then others try in the next. */
async function codesMs(own: OwnSenders, worker: FunctionProcess, codes: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const event = await own.codesEvent(codes, { begun: true });
    try {
      return await allTaken(own, codes, () => worker.run(event));
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
}

async function allTaken(own: OwnSenders, messages: number, run: () => ReturnType<FunctionProcess['run']>) {
  const before = await own.taken();
  const { answer, processorMs } = await run();
  v.parse(NothingFailedSchema, answer);
  const taken = (await own.taken()) - before;
  if (taken !== messages) throw new Error(`the simulator has taken ${taken} of ${messages} messages`);
  return processorMs;
}

async function bareMs(bare: FunctionProcess, by: BarePosts['by'], messages: number): Promise<number> {
  const { processorMs } = await bare.run({ by, ...postings(messages) } satisfies BarePosts);
  return processorMs;
}
