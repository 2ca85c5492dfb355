import type { Changed } from '../../../lib/aws/versioned-item.ts';
import { type Entry, isOfClient, isStopped, type OptOutChange, withChange } from '../../../lib/opt-outs/entry.ts';
import { markKey, markKeysOf } from '../../../lib/opt-outs/opt-out-items.ts';
import { noOptOuts, type PersonOptOuts, stopFor } from '../../../lib/opt-outs/person.ts';
import {
  type ListedRow,
  type OptOutPorts,
  recordIdChange,
  recordOptOut,
} from '../../../lib/opt-outs/record-opt-out.ts';
import { type Scope, type Sender, scopesOf, textOf } from '../../../lib/opt-outs/scope.ts';
import { type Step, written } from '../../support/exploration.ts';
import { type Call, type Outside, type Reply, type Standing, standingAfter } from '../../support/replayed-run.ts';

/**
 * Real writers record words and changed ids, call by call, and workers claim, look and call. Recipients stand for their
 * names.
 */

export type Told = (
  | { readonly scope: Scope; readonly recipients: readonly string[]; readonly word: OptOutChange }
  | { readonly old: readonly string[]; readonly recipients: readonly string[]; readonly atMs: number }
) & {
  /** The word comes only after that other word is stored. */
  readonly onlyAfter?: number;
};

type CallName = 'mark' | 'change' | 'list';

export interface Writer {
  readonly told: number;
  readonly replies: readonly Reply[];
  readonly progress: 'to come' | 'writing' | 'stored' | 'refused';
}

export interface Worker {
  readonly sender: Sender;
  readonly recipient: string;
  readonly progress: 'to claim' | 'claimed' | 'unmarked' | 'looks' | 'free' | 'called' | 'stopped';
  /** These words were stored at the claim. */
  readonly storedBefore: readonly number[];
}

export interface World {
  readonly told: readonly Told[];
  readonly people: Readonly<Record<string, PersonOptOuts>>;
  readonly marks: readonly string[];
  readonly rows: readonly string[];
  readonly writers: readonly Writer[];
  readonly workers: readonly Worker[];
  readonly left: { readonly faults: number; readonly doubles: number };
}

export async function successorsOf(world: World): Promise<Step<World>[]> {
  const steps = await Promise.all(world.writers.map((writer, at) => ofWriter(world, writer, at)));
  return [...steps.flat(), ...world.workers.flatMap((worker, at) => ofWorker(world, worker, at))];
}

export function keyOf({ told: _fixed, ...world }: World): string {
  return written(world);
}

type End = 'stored' | 'refused' | 'failed';

async function started(told: Told, { call }: Outside<CallName>): Promise<End> {
  const ports: OptOutPorts = {
    mark: call('mark'),
    change: call('change') as OptOutPorts['change'],
    list: call('list'),
    nameOf: (recipient) => recipient,
  };
  try {
    if ('old' in told) {
      await recordIdChange(told, ports);
      return 'stored';
    }
    return (await recordOptOut({ ...told, listedFor: listedFor(told.scope) }, ports)).taken ? 'stored' : 'refused';
  } catch (error) {
    // An error of the code itself breaks a promise; an unavailable store does not.
    if (error instanceof Error && error.message === 'unavailable') return 'failed';
    throw error;
  }
}

const standings = new Map<string, Promise<Standing<End, CallName>>>();

function standingOf(told: Told, replies: readonly Reply[]): Promise<Standing<End, CallName>> {
  const key = written([told, replies]);
  const known = standings.get(key) ?? standingAfter<End, CallName>((outside) => started(told, outside), 0, replies);
  standings.set(key, known);
  return known;
}

async function ofWriter(world: World, writer: Writer, at: number): Promise<Step<World>[]> {
  const told = world.told[writer.told] as Told;
  const isOver = writer.progress === 'stored' || writer.progress === 'refused';
  const steps: Step<World>[] = [];
  const again = { ...writer, replies: [], progress: 'writing' } as const;
  if (world.left.doubles > 0 && isOver) {
    const left = { ...world.left, doubles: world.left.doubles - 1 };
    steps.push({ does: `${at} comes again`, state: { ...world, left, writers: [...world.writers, again] } });
  }
  const isToCome = told.onlyAfter !== undefined && !storedIn(world).includes(told.onlyAfter);
  if (isOver || isToCome) return steps;
  const { open } = await standingOf(told, writer.replies);
  const [call] = open;
  if (call === undefined) throw new Error('a writer that waits for nothing');
  const goOn = async (does: string, store: World, reply: Omit<Reply, 'call' | 'atMs'>) => {
    const replies = [...writer.replies, { call: call.number, atMs: 0, ...reply }];
    const { end } = await standingOf(told, replies);
    // The delivery comes again.
    const next: Writer =
      end === 'failed' ? again : { ...writer, replies: end ? [] : replies, progress: end ?? 'writing' };
    steps.push({ does, state: { ...store, writers: store.writers.with(at, next) } });
  };
  const { store, value } = carriedOut(world, call);
  await goOn(`${at}: ${call.name}`, store, { value });
  if (world.left.faults > 0) {
    const left = { ...world.left, faults: world.left.faults - 1 };
    await goOn(`${at}: ${call.name}, and the reply is lost`, { ...store, left }, { fails: true });
    await goOn(`${at}: ${call.name} fails`, { ...world, left }, { fails: true });
  }
  return steps;
}

function carriedOut(world: World, { name, args }: Call<CallName>): { store: World; value: unknown } {
  if (name === 'mark') {
    const { pk } = markKey(args[0] as Scope);
    return { store: { ...world, marks: [...new Set([...world.marks, pk])].sort() }, value: undefined };
  }
  if (name === 'list') {
    const [clientId, { recipient }] = args as [number, ListedRow];
    const rows = [...new Set([...world.rows, `client:${clientId} ${recipient}`])].sort();
    return { store: { ...world, rows }, value: undefined };
  }
  const [person, rule] = args as [string, (before: PersonOptOuts) => Changed<PersonOptOuts, unknown>];
  const value = rule(world.people[person] ?? noOptOuts);
  return { store: { ...world, people: { ...world.people, [person]: value.state } }, value };
}

function storedIn({ writers }: World): number[] {
  return writers.filter(({ progress }) => progress === 'stored').map(({ told }) => told);
}

/** A worker keeps the order that record-opt-out.ts requires. */
function ofWorker(world: World, worker: Worker, at: number): Step<World>[] {
  const { sender, recipient } = worker;
  const to = (does: string, next: Partial<Worker>): Step<World>[] => {
    return [
      { does: `worker ${at} ${does}`, state: { ...world, workers: world.workers.with(at, { ...worker, ...next }) } },
    ];
  };
  switch (worker.progress) {
    case 'to claim':
      return to('claims', { progress: 'claimed', storedBefore: [...new Set(storedIn(world))].sort() });
    case 'claimed': {
      const isMarked = markKeysOf(sender).some(({ pk }) => world.marks.includes(pk));
      return to('reads the marks', { progress: isMarked ? 'looks' : 'unmarked' });
    }
    case 'looks': {
      const stop = stopFor(world.people[recipient] ?? noOptOuts, sender);
      return to('reads the person', { progress: stop === undefined ? 'free' : 'stopped' });
    }
    case 'unmarked':
    case 'free':
      return to('calls', { progress: 'called' });
    default:
      return [];
  }
}

/** The facts `links` have linked names, and the `words` count. */
interface Known {
  readonly links: readonly number[];
  readonly words: readonly number[];
  readonly scope: string;
}

/**
 * Computes the entry from the facts: words under any name of the same person, and older words under names that were
 * replaced.
 */
function entryFrom(told: readonly Told[], { links, words, scope }: Known, recipient: string): Entry {
  const untilOf = new Map([[recipient, Number.POSITIVE_INFINITY]]);
  const untilMsOf = (names: readonly string[]) => Math.max(...names.map((name) => untilOf.get(name) ?? -1));
  // Each round extends the reach of at least one name, so that many rounds suffice.
  for (const _round of told) {
    for (const fact of links.flatMap((at) => told[at] ?? [])) {
      const untilMs = untilMsOf(fact.recipients);
      const reached = fact.recipients.map((name) => [name, untilMs] as const);
      const before = 'old' in fact ? fact.old.map((name) => [name, Math.min(untilMs, fact.atMs)] as const) : [];
      for (const [name, ms] of [...reached, ...before]) untilOf.set(name, Math.max(ms, untilOf.get(name) ?? -1));
    }
  }
  return words
    .flatMap((at) => told[at] ?? [])
    .flatMap((fact) => ('word' in fact && textOf(fact.scope) === scope ? [fact] : []))
    .filter(({ recipients, word }) => reaches(word, untilMsOf(recipients)))
    .map(({ word }) => word)
    .reduce<Entry>(withChange, {});
}

/** A client's stop follows the person even when it comes after the change. */
function reaches(word: OptOutChange, untilMs: number): boolean {
  return word.atMs <= untilMs || (untilMs >= 0 && isOfClient(word) && word.says === 'stopped');
}

/** One client's message was refused by the platform; words that tell no client are in no list. */
function listedFor(scope: Scope): number | undefined {
  if (scope.kind === 'words') return undefined;
  return scope.kind === 'client' ? scope.clientId : 1;
}

function rowsOf(told: readonly Told[]): string[] {
  return told.flatMap((fact) => {
    const clientId = 'word' in fact ? listedFor(fact.scope) : undefined;
    return clientId === undefined ? [] : fact.recipients.map((recipient) => `client:${clientId} ${recipient}`);
  });
}

/** Throws when a call breaks the promise, or when all words are stored and one is lost. */
export function checkPromises(world: World): void {
  for (const worker of world.workers.filter(({ progress }) => progress === 'called')) checkCall(world, worker);
  if (world.writers.every(({ progress }) => progress === 'stored' || progress === 'refused')) checkRest(world);
}

/** After a stop that was stored before the claim, only a begun start allows the call. */
function checkCall({ told, writers }: World, { sender, recipient, storedBefore }: Worker): void {
  const begun = writers.filter(({ progress }) => progress !== 'to come').map((writer) => writer.told);
  const starts = begun.filter((at) => isStart(told[at]));
  for (const scope of scopesOf(sender)) {
    const known = { links: storedBefore, words: [...storedBefore, ...starts], scope };
    if (isStopped(entryFrom(told, known, recipient)))
      throw new Error(`D55: ${recipient} is called after a stop was stored`);
  }
}

function isStart(fact: Told | undefined): boolean {
  return fact !== undefined && 'word' in fact && fact.word.says === 'started';
}

function checkRest(world: World): void {
  const { told, people, rows, marks } = world;
  if (rows.some((row) => !rowsOf(told).includes(row))) throw new Error('D55: a row for a client that was not told');
  const stored = storedIn(world);
  const refused = world.writers.filter(({ progress }) => progress === 'refused').map((writer) => writer.told);
  for (const fact of stored.flatMap((at) => told[at] ?? [])) {
    if (!('word' in fact)) continue;
    const scope = textOf(fact.scope);
    if (!marks.includes(markKey(fact.scope).pk)) throw new Error('D55: a word without a mark');
    for (const recipient of told.flatMap(({ recipients }) => recipients)) {
      const kept = sidesOf(people[recipient]?.entries[scope]);
      // A start with a lost reply may be stored, and is refused when it comes again.
      const wholes = [stored, [...stored, ...refused]].map((words) =>
        sidesOf(entryFrom(told, { links: stored, words, scope }, recipient)),
      );
      if (!wholes.includes(kept)) throw new Error(`D55: of ${recipient} is kept ${kept}, and was said ${wholes[0]}`);
    }
    if (rowsOf([fact]).some((row) => !rows.includes(row))) throw new Error('D55: a word that no list shows');
  }
}

function sidesOf({ said, told }: Entry = {}): string {
  return written([said, told]);
}
