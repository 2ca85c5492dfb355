import type { QueueEntry } from '../../../../lib/aws/sqs-batch.ts';
import type { SendJob } from '../../../../lib/messages/accept/send-job.ts';
import { packBatches } from '../../../../lib/messages/fan-out/dispatch-queue.ts';
import { type FanOutPorts, fanOut } from '../../../../lib/messages/fan-out/fan-out.ts';
import { leaseMs, type RoundRecord, type RoundRun, roundStateOf } from '../../../../lib/messages/rounds/lease.ts';
import { cancelled, type JobState } from '../../../../lib/messages/job-state.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { scenarioHead, startMs } from '../../../faults/scenario-job.ts';
import { memoryPaces } from '../../../support/memory-paces.ts';

/** One job and what its queue, its item and the dispatch queue hold, as plain data; and the real fan-out, call by call. */

export interface Scenario {
  readonly waves: number;
  /** Of ten recipients each. */
  readonly wavesPerRound: number;
  /** The client cancels it at some moment, or not. */
  readonly mayStop?: true;
  /** Calls that may land after their run has given them up. */
  readonly late?: readonly OpName[];
}

export type OpName = 'begin' | 'end' | 'take' | 'tell' | 'sendBatch' | 'checkpoint' | 'handOver' | 'sendAgain' | 'watch';

export interface Op {
  readonly name: OpName;
  readonly args: readonly unknown[];
}

export interface Reply {
  readonly value?: unknown;
  readonly fails?: true;
  readonly atMs: number;
}

export interface Run {
  readonly owner: string;
  readonly message: number;
  readonly job: SendJob;
  readonly startedAtMs: number;
  readonly replies: readonly Reply[];
}

/** At its next outside call, or at its end. */
export interface Standing {
  readonly op?: Op;
  readonly end?: 'done' | 'again' | 'failed';
}

/** What is stored. */
export interface World {
  readonly begun: boolean;
  readonly withdrawn: boolean;
  /** Its client has cancelled it (D53). */
  readonly stopped: boolean;
  readonly progress: number;
  readonly record: RoundRecord | null;
  /** First recipients of the batches in the dispatch queue. */
  readonly queued: readonly number[];
  /** First recipients of the waves that have ended without being queued, and were told. */
  readonly ended: readonly number[];
  readonly watched: boolean;
  readonly messages: readonly { readonly id: number; readonly job: SendJob; readonly visible: boolean }[];
  readonly nextId: number;
}

export const recipientsPerWave = 10;

export function firstWorld({ waves }: Scenario): World {
  const recipients = Array.from({ length: waves * recipientsPerWave }, (_, index) => ({ to: String(index) }));
  const head = { ...scenarioHead, total: recipients.length };
  const job: SendJob = { head, plan: {} as SendJob['plan'], firstIndex: 0, recipients };
  return {
    begun: false,
    withdrawn: false,
    stopped: false,
    progress: 0,
    record: null,
    queued: [],
    ended: [],
    watched: false,
    messages: [{ id: 0, job, visible: true }],
    nextId: 1,
  };
}

/** Queued, or ended where the job is stopped. */
export function isAllReleased({ queued, ended }: World, { waves }: Scenario): boolean {
  return new Set([...queued, ...ended]).size === waves;
}

/** Where a run stands after its replies. It depends on nothing else. */
export async function standingOf(run: Run, { wavesPerRound }: Scenario): Promise<Standing> {
  let open: Op | undefined;
  let end: Standing['end'];
  let at = 0;
  let nowMs = run.startedAtMs;
  const call =
    (name: OpName) =>
    (...args: unknown[]): Promise<never> => {
      const reply = run.replies[at];
      if (reply === undefined) {
        open = { name, args };
        return new Promise(() => undefined);
      }
      at += 1;
      nowMs = reply.atMs;
      return reply.fails ? Promise.reject(new Error('unavailable')) : (Promise.resolve(reply.value) as Promise<never>);
    };
  const nothing = async () => undefined;
  const queue = { pack: packBatches, sendBatch: call('sendBatch') };
  const tell = call('tell');
  const ports: FanOutPorts = {
    jobs: {
      isCommitted: async () => true,
      begin: call('begin'),
      describe: nothing,
      take: call('take'),
      checkpoint: call('checkpoint'),
      handOver: call('handOver'),
    },
    claims: { take: nothing },
    events: { send: call('end') },
    queue,
    urgentQueue: queue,
    watch: { sendLater: call('watch') },
    sendAgain: call('sendAgain'),
    hold: nothing,
    compose: (_, { to }) => ({ to }),
    paces: memoryPaces(),
    // Another client wants as much: so a round is as long as the scenario says (the next one comes after a minute).
    demands: {
      tell: async (demand) => {
        await tell();
        return [demand, { ...demand, clientId: 2 }];
      },
    },
    workersPerSecond: (2 * wavesPerRound * recipientsPerWave - 1) / 60,
    limitOf: async () => 1,
    nowMs: () => nowMs,
    remainingMs: () => 60_000,
    random: () => 0,
    pause: nothing,
    log: () => undefined,
  };
  void fanOut({ job: run.job, sentAtMs: startMs, owner: run.owner }, ports).then(
    (ending) => {
      end = ending.end;
    },
    () => {
      end = 'failed';
    },
  );
  for (let turn = 0; turn < 60; turn += 1) await null;
  if (end !== undefined) return { end };
  if (open === undefined) throw new Error('the run neither calls nor ends');
  return { op: open };
}

/** What a call does to what is stored, and what it answers. */
export function effectOf(world: World, { name, args }: Op, nowMs: number): { world: World; value: unknown } {
  switch (name) {
    case 'begin':
      return world.withdrawn
        ? { world, value: undefined }
        : { world: { ...world, begun: true }, value: world.progress };
    case 'take': {
      const [run] = args as [RoundRun];
      const state = roundStateOf(world.record ?? undefined, run, nowMs);
      if (state.kind !== 'free') return { world, value: state };
      const value = { kind: 'taken', queued: world.progress, state: jobStateOf(world) };
      return { world: { ...world, record: heldBy(run, nowMs) }, value };
    }
    case 'checkpoint': {
      const [run, progress] = args as [RoundRun, number];
      if (!isHeldBy(world, run)) return { world, value: undefined };
      return { world: { ...world, progress, record: heldBy(run, nowMs) }, value: jobStateOf(world) };
    }
    case 'handOver': {
      const [run, round] = args as [RoundRun, number];
      if (!isHeldBy(world, run)) {
        return { world, value: roundStateOf(world.record ?? undefined, run, 0).kind === 'over' };
      }
      return { world: { ...world, record: { round, leaseUntilMs: 0 } }, value: true };
    }
    case 'end': {
      const indexes = (args[0] as readonly ServiceEvent[]).map(({ data }) =>
        Number(
          String((data as { message_id?: string }).message_id)
            .split('-')
            .at(-1),
        ),
      );
      const waves = indexes.map((index) => index - (index % recipientsPerWave));
      return {
        world: { ...world, ended: [...new Set([...world.ended, ...waves])].toSorted((a, b) => a - b) },
        value: undefined,
      };
    }
    case 'tell':
      return { world, value: undefined };
    case 'sendBatch': {
      const [entries] = args as [readonly QueueEntry[]];
      const [first] = entries.map(({ body }) => (JSON.parse(body) as { index: number }).index);
      const queued = [...new Set([...world.queued, first ?? -1])].toSorted((one, other) => one - other);
      return { world: { ...world, queued }, value: [] };
    }
    case 'sendAgain': {
      const message = { id: world.nextId, job: args[0] as SendJob, visible: true };
      return {
        world: { ...world, messages: [...world.messages, message], nextId: world.nextId + 1 },
        value: undefined,
      };
    }
    case 'watch':
      return { world: { ...world, watched: true }, value: undefined };
  }
}

function jobStateOf({ stopped }: World): JobState {
  return stopped ? { stop: cancelled(startMs) } : {};
}

/** Written under the time of the run, which may be long ago when the write arrives: here, the call and its effect are one. */
function heldBy({ round, owner }: RoundRun, nowMs: number): RoundRecord {
  return { round, owner, leaseUntilMs: nowMs + leaseMs };
}

function isHeldBy({ record }: World, { round, owner }: RoundRun): boolean {
  return record?.round === round && record.owner === owner;
}
