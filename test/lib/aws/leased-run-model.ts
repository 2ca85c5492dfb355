import * as v from 'valibot';
import { type Leasing, leasedRun, runStateEntries } from '../../../lib/aws/leased-run.ts';
import { runStateStore } from '../../../lib/aws/run-state-store.ts';
import { type Call, type Outside, type Reply, type Standing, standingAfter } from '../../support/replayed-run.ts';
import { versionedDocuments } from '../../support/versioned-documents.ts';

/** A key's item, its list and its queue are plain data; the real leased run works them off, call by call. */

export type CallName = 'put' | 'read' | 'write' | 'look' | 'claim' | 'end' | 'wake';

/** It waits in the list until a run claims it. */
export interface Entry {
  readonly name: string;
  readonly dueMs: number;
}

/** A run with an entry puts it into the list first; others are wakes. */
export interface Message {
  readonly id: number;
  readonly puts?: Entry;
  readonly visibleAtMs: number;
  readonly held: boolean;
}

const StateSchema = v.object({ ...runStateEntries, served: v.optional(v.string()) });
export type Item = v.InferInput<typeof StateSchema> & { readonly version: number; readonly writer: string };

export interface Policy {
  readonly leasing: Leasing;
  /** A run's time is over after its first claim, which it ends after it has left. */
  readonly leavesEarly?: boolean;
}

export interface Run {
  readonly name: string;
  readonly startedAtMs: number;
  /** The run's clock is ahead of the queue's. */
  readonly aheadMs: number;
  readonly message: Pick<Message, 'id' | 'puts'>;
  readonly replies: readonly Reply[];
  /** True acknowledges the message. */
  readonly ended?: boolean;
}

const standings = new Map<string, Promise<Standing<boolean, CallName>>>();

/** Returns a run's waiting calls, or whether it acknowledges its message. */
export function standingOf(run: Run, policy: Policy): Promise<Standing<boolean, CallName>> {
  const key = JSON.stringify([policy, run]);
  const known =
    standings.get(key) ??
    standingAfter<boolean, CallName>(
      // A run that throws leaves its message to come again.
      (outside) => working(run, policy, outside).catch(() => false),
      run.startedAtMs + run.aheadMs,
      run.replies,
    );
  standings.set(key, known);
  return known;
}

async function working(
  { name, message }: Run,
  { leasing, leavesEarly = false }: Policy,
  { call, nowMs }: Outside<CallName>,
): Promise<boolean> {
  const [put, look, claim, end] = [call('put'), call('look'), call('claim'), call('end')];
  if (message.puts !== undefined) await put(message.puts);
  const [read, write] = [call('read'), call('write')];
  const begun: Promise<void>[] = [];
  let [claims, leases] = [0, 0];
  const other = await leasedRun<v.InferOutput<typeof StateSchema>>({
    leasing,
    states: runStateStore(
      {
        table: { client: versionedDocuments({ read: () => read(), write }), name: 'runs' },
        key: { pk: 'KEY', sk: 'RUN' },
        stateOf: (item) => v.parse(StateSchema, item ?? {}),
        itemOf: (state) => state,
      },
      { pause: async () => undefined, newWriter: () => name },
    ),
    messages: [String(message.id)],
    firstDueMs: async () => {
      const dues = ((await look()) as readonly Entry[]).map(({ dueMs }) => dueMs);
      return dues.length === 0 ? undefined : Math.min(...dues);
    },
    work: async ({ keep, mayClaim }) => {
      let served: string | undefined;
      await keep();
      for (const { name: entry, dueMs } of (await look()) as readonly Entry[]) {
        if (dueMs > nowMs() || !mayClaim()) continue;
        served = entry;
        claims += 1;
        await claim(entry, `${name}.${leases}`);
        if (leavesEarly) begun.push(end(entry));
        await keep();
      }
      return (state) => ({ ...state, served });
    },
    wake: call('wake'),
    mayGoOn: () => !leavesEarly || claims === 0,
    newOwner: () => `${name}.${++leases}`,
    nowMs,
  });
  await Promise.all(begun);
  return other?.messages.includes(String(message.id)) !== true;
}

export interface Store {
  readonly messages: readonly Message[];
  readonly nextId: number;
  readonly item?: Item | undefined;
  readonly list: readonly Entry[];
  readonly claimed: readonly string[];
}

/** Returns what a call does and answers. */
export function effectOf<S extends Store>(
  store: S,
  { name, args }: Call<CallName>,
  nowMs: number,
): { readonly store: S; readonly value?: unknown } {
  switch (name) {
    case 'put': {
      const entry = args[0] as Entry;
      // What has been claimed is not put again: the slice's own claim prevents it.
      const isKnown = [...store.claimed, ...store.list.map((each) => each.name)].includes(entry.name);
      return { store: isKnown ? store : { ...store, list: [...store.list, entry] } };
    }
    case 'read':
      return { store, value: store.item };
    case 'write': {
      const [item, expected] = args as [Item, number];
      if (store.item !== undefined && store.item.version !== expected) return { store, value: store.item };
      return { store: { ...store, item } };
    }
    case 'look':
      return { store, value: store.list };
    case 'claim': {
      const list = store.list.filter((entry) => entry.name !== args[0]);
      const claimed = [...new Set([...store.claimed, args[0] as string])].sort();
      return { store: { ...store, list, claimed } };
    }
    case 'end':
      return { store };
    case 'wake':
      return { store: woken(store, nowMs + 1_000 * (args[0] as number)) };
  }
}

export function woken<S extends Store>(store: S, visibleAtMs: number): S {
  const wake: Message = { id: store.nextId, visibleAtMs, held: false };
  return { ...store, messages: [...store.messages, wake], nextId: store.nextId + 1 };
}
