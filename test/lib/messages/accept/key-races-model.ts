import type { Context } from 'aws-lambda';
import { messagesSend } from '../../../../functions/messages-send.ts';
import {
  bodyHashOf,
  type IdempotencyRecord,
  type IdempotencyScope,
  rememberedMs,
} from '../../../../lib/messages/accept/idempotency.ts';
import { sendable } from '../../../support/platform-templates.ts';
import { type Call, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';
import { answeredOf, type SendAnswer, sendEvent, sendPorts } from '../../../support/send-page.ts';

/** Requests with one key: what is stored and queued, as plain data; and the real page, call by call. */

export type CallName =
  | 'claim'
  | 'takeOver'
  | 'lookUp'
  | 'send'
  | 'withdraw'
  | 'begin'
  | 'describe'
  | 'complete'
  | 'remove';
export type BodyName = 'a' | 'b';

/** What has become of the job that a request would make. */
export interface Job {
  readonly queued: boolean;
  readonly begun: boolean;
  readonly withdrawn: boolean;
  /** Its answer was recorded under the key. */
  readonly completed: boolean;
}

export interface Request {
  readonly body: BodyName;
  /** Absent until it comes. */
  readonly startedAtMs?: number;
  readonly replies: readonly Reply[];
  /** How many calls it has been told of. */
  readonly told: number;
  /** Its process has ended, or died. */
  readonly isOver: boolean;
  /** What its client was told, by the page or, where that took too long, by the edge. */
  readonly answer?: SendAnswer;
  readonly job: Job;
}

/** What is stored. The job of a request is named by its place. */
export interface Store {
  readonly record: IdempotencyRecord | null;
  readonly requests: readonly Request[];
}

const noJob: Job = { queued: false, begun: false, withdrawn: false, completed: false };

export function requestToCome(body: BodyName): Request {
  return { body, replies: [], told: 0, isOver: false, job: noJob };
}

export const jobIdOf = (place: number) => `job-${place}`;
const placeOf = (jobId: string) => Number(jobId.slice('job-'.length));

const lifeMs = 29_000;
const template = sendable.order;
/** The first goes straight to the workers, the second by the fan-out. */
const bodies: Record<BodyName, object> = { a: bodyTo('5491155550001'), b: bodyTo('5491155550002', '5491155550003') };

function bodyTo(...to: readonly string[]): object {
  const recipients = to.map((each) => ({ to: each, params: { body: ['Ana', '17'], buttons: ['17'] } }));
  const named = { name: template.name, language: template.language };
  return { did: '5491100000001', type: 'template', channel: 'MESSAGING', template: named, recipients };
}

export const bodyNameOf = ({ bodyHash }: IdempotencyRecord): BodyName =>
  bodyHash === bodyHashOf(bodies.a) ? 'a' : 'b';

const standings = new Map<string, Promise<Standing<SendAnswer, CallName>>>();

/** Where the page stands with a request that has come. Calls follow one another: one is open, or it has answered. */
export async function standingOf(
  { body, startedAtMs = 0, replies }: Request,
  place: number,
): Promise<{ readonly call: Call<CallName> } | { readonly answer: SendAnswer }> {
  const key = JSON.stringify([body, place, startedAtMs, replies]);
  const known =
    standings.get(key) ??
    standingAfter<SendAnswer, CallName>(
      async ({ call, nowMs }) => {
        const plain = sendPorts(template, nowMs);
        const lookUp = call('lookUp');
        const page = messagesSend({
          ...plain,
          questions: { ...plain.questions, keep: async () => undefined },
          platformTemplates: {
            lookUp: async () => ({ found: { ...template, status: await lookUp() }, sameName: [] }),
          },
          newJobId: () => jobIdOf(place),
          queue: { send: call('send') },
          straightQueue: { send: call('send') },
          urgentQueue: { send: call('send') },
          acceptance: {
            commit: call('send'),
            withdraw: call('withdraw'),
            begin: call('begin'),
            describe: call('describe'),
          },
          records: {
            claim: call('claim'),
            takeOver: call('takeOver'),
            complete: call('complete'),
            remove: call('remove'),
          },
        });
        const getRemainingTimeInMillis = () => Math.max(0, startedAtMs + lifeMs - nowMs());
        return answeredOf(await page(sendEvent(bodies[body], 'k'), { getRemainingTimeInMillis } as Context));
      },
      startedAtMs,
      replies,
    );
  standings.set(key, known);
  const { open, end } = await known;
  if (end !== undefined) return { answer: end };
  const [call] = open;
  if (call === undefined || open.length > 1) throw new Error('the page does two things at once');
  return { call };
}

interface Effect {
  readonly store: Store;
  readonly value?: unknown;
}

/** What a call does to what is stored, and what it answers: the conditions are those of the stores, held by adapter tests. */
export function effectOf(store: Store, place: number, { name, args }: Pick<Call<CallName>, 'name' | 'args'>): Effect {
  const { record } = store;
  switch (name) {
    case 'claim': {
      const [, claimed] = args as [IdempotencyScope, IdempotencyRecord];
      const isFree = record === null || record.startedAtMs + rememberedMs <= claimed.startedAtMs;
      return isFree ? { store: { ...store, record: claimed } } : { store, value: record };
    }
    case 'takeOver': {
      const [, stale, taken] = args as [IdempotencyScope, IdempotencyRecord, IdempotencyRecord];
      if (!isRun(record, stale) || record?.state !== 'running') return { store, value: false };
      return { store: { ...store, record: taken }, value: true };
    }
    case 'complete': {
      const [, run] = args as [IdempotencyScope, IdempotencyRecord];
      if (record === null || !isRun(record, run)) return { store };
      return { store: withJob({ ...store, record: { ...record, state: 'done' } }, run.jobId, { completed: true }) };
    }
    case 'remove': {
      const [, jobId] = args as [IdempotencyScope, string];
      return { store: record?.jobId === jobId && record.state === 'running' ? { ...store, record: null } : store };
    }
    case 'withdraw': {
      const [jobId] = args as [string];
      if (store.requests[placeOf(jobId)]?.job.begun) return { store, value: 'begun' };
      return { store: withJob(store, jobId, { withdrawn: true }), value: 'withdrawn' };
    }
    case 'send':
      return { store: withJob(store, jobIdOf(place), { queued: true }) };
    case 'begin': {
      const { jobId } = args[0] as { readonly jobId: string };
      if (store.requests[placeOf(jobId)]?.job.withdrawn) return { store, value: 'withdrawn' };
      return { store: withJob(store, jobId, { begun: true }), value: 'begun' };
    }
    case 'lookUp':
      return { store, value: 'APPROVED' };
    case 'describe':
      return { store };
  }
}

function isRun(record: IdempotencyRecord | null, { jobId, startedAtMs }: IdempotencyRecord): boolean {
  return record?.jobId === jobId && record.startedAtMs === startedAtMs;
}

/** The fan-out, or a worker, begins whatever is in the queue and was not taken back. */
export function mayBegin({ job: { queued, begun, withdrawn } }: Request): boolean {
  return queued && !begun && !withdrawn;
}

export function withJob<S extends Store>(store: S, jobId: string, changes: Partial<Job>): S {
  const requests = store.requests.map((request, place) =>
    place === placeOf(jobId) ? { ...request, job: { ...request.job, ...changes } } : request,
  );
  return { ...store, requests };
}
