import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import { breakerStore } from '../../lib/messages/holds/breaker-store.ts';
import { holdStore } from '../../lib/messages/holds/hold-store.ts';
import { runHolds } from '../../lib/messages/holds/run-holds.ts';
import { paceStore } from '../../lib/messages/pace/pace-store.ts';
import { urgentStore } from '../../lib/messages/pace/urgent-store.ts';
import { unknownOutcomesStore } from '../../lib/messages/receipts/unknown-outcomes-store.ts';
import { processBatch } from '../../lib/messages/send/process-batch.ts';
import { snapshotStore } from '../../lib/messages/send/snapshot-store.ts';
import { type FlatPorts, grouped } from './flat-ports.ts';
import { noStops } from './memory-opt-outs.ts';
import { immediately, VirtualTime } from './virtual-time.ts';

type Ports = Omit<FlatPorts, 'invocation' | 'remainingMs'>;
type Given = Pick<Ports, 'queue' | 'events' | 'send'> & Partial<Ports>;

const lifeMs = 60_000;
const never = new Promise<never>(() => undefined);

/**
 * Workers of chunks run over the real stores in virtual time, which passes only while no worker waits for a request.
 */
export class TableWorkers {
  readonly time: VirtualTime;
  #asked = 0;
  #wake: () => void = () => undefined;

  constructor(startMs: number) {
    this.time = new VirtualTime(startMs);
  }

  /** Returns the ports of one process over a table. */
  ports(client: DynamoDBDocumentClient, table: string, given: Given): Ports {
    const nowMs = () => this.time.nowMs;
    const pause = async () => undefined;
    const states = dispatchItemStore(tableOf(client, table, { pause }));
    const wabas = holdStore(tableOf(client, table, { nowMs }), { pause });
    const { beginStraight } = acceptedDispatchesStore(tableOf(client, table, { nowMs }));
    const log = () => undefined;
    const ports: Ports = {
      isOfSmallRequests: false,
      slices: sliceStore(tableOf(client, table, { nowMs })),
      unknowns: unknownOutcomesStore(tableOf(client, table)),
      paces: paceStore(tableOf(client, table, { nowMs }), { newWriter: randomUUID, pause }),
      urgentCapacity: urgentStore(tableOf(client, table)),
      look: snapshotStore(tableOf(client, table, { pause })),
      beginStraight: async (chunk) => void (await beginStraight(chunk)),
      newHolds: () => runHolds({ states, wabas, watchParked: async () => undefined, nowMs, log }),
      people: noStops,
      ready: async () => undefined,
      breakers: breakerStore(tableOf(client, table, { nowMs })),
      probe: async () => ({ maySend: true }),
      nowMs,
      random: () => 0,
      pause: (ms) => this.time.sleep(ms),
      log,
      ...given,
    };
    return outside(ports, (call) => this.ask(call));
  }

  /**
   * Runs deliveries of these bodies; returns those that come again. After `calls` calls the run is killed: its pending
   * requests get no answer, and it makes no more.
   */
  async run(
    bodies: readonly string[],
    ports: Ports,
    calls = Number.POSITIVE_INFINITY,
  ): Promise<readonly string[] | 'killed'> {
    const deliveries = bodies.map((body, at) => ({ messageId: String(at), receiptHandle: '', body }));
    const { living, killed } = livingFor(calls);
    const bornMs = this.time.nowMs;
    const remainingMs = () => bornMs + lifeMs - this.time.nowMs;
    const failed = processBatch(
      deliveries,
      grouped({ ...outside(ports, living), invocation: randomUUID(), remainingMs }),
    );
    const again = failed.then((ids) => bodies.filter((_, at) => ids.includes(String(at))));
    return await Promise.race([again, killed]);
  }

  /** Makes a request outside of virtual time. */
  async ask<T>(call: () => Promise<T>): Promise<T> {
    this.#asked += 1;
    try {
      return await call();
    } finally {
      this.#asked -= 1;
      if (this.#asked === 0) this.#wake();
    }
  }

  /** Lets time pass for as long as `work` takes. */
  async pass<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const ended = work.finally(() => {
      isOver = true;
    });
    ended.catch(() => undefined);
    const settled = async () => {
      do {
        if (this.#asked > 0) await new Promise<void>((resolve) => (this.#wake = resolve));
        await immediately();
      } while (this.#asked > 0);
    };
    await this.time.pass(() => isOver, settled);
    if (!isOver) throw new Error('the work waits for something that never comes');
    return await ended;
  }
}

export type Through = <T>(call: () => Promise<T>) => Promise<T>;

/** Returns a process that is killed after so many calls: what is pending gets no answer, and nothing more is called. */
export function livingFor(calls: number): { readonly living: Through; readonly killed: Promise<'killed'> } {
  const killed = Promise.withResolvers<'killed'>();
  let left = calls;
  const living: Through = async (call) => {
    left -= 1;
    if (left < 0) return await never;
    try {
      return await call();
    } finally {
      if (left <= 0) {
        killed.resolve('killed');
        await never;
      }
    }
  };
  return { living, killed: killed.promise };
}

/** Returns ports whose outside calls go through `through`. */
function outside(ports: Ports, through: Through): Ports {
  const { slices, unknowns, paces, urgentCapacity, breakers, queue, events } = ports;
  const { look, beginStraight, send, probe } = eachCall(ports, through);
  const newHolds = () => {
    const holds = ports.newHolds();
    // A run records in memory what it has seen, which is no request.
    const { saw, ...asked } = holds;
    return { saw, ...spreadCalls(asked, through) };
  };
  return {
    ...{ ...ports, look, beginStraight, send, probe, newHolds },
    slices: eachCall(slices, through),
    unknowns: eachCall(unknowns, through),
    paces: eachCall(paces, through),
    urgentCapacity: eachCall(urgentCapacity, through),
    breakers: eachCall(breakers, through),
    queue: eachCall(queue, through),
    events: eachCall(events, through),
  };
}

function spreadCalls<Calls extends object>(calls: Calls, through: Through): Calls {
  const each = eachCall(calls, through);
  return Object.fromEntries(Object.keys(calls).map((name) => [name, Reflect.get(each, name)])) as Calls;
}

/** Returns the store with each of its calls made through `through`. */
export function eachCall<Store extends object>(store: Store, through: Through): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => through(async () => member.apply(target, args));
    },
  });
}
