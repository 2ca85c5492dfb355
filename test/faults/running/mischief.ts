import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../../../infra/local/demo/client.ts';
import { purposeOf } from '../../../infra/names.ts';
import { killed, pidsOf } from '../../proof/trial/kill.ts';
import type { LocalTrial } from '../../proof/trial/local-trial.ts';
import { troubleKinds } from '../../proof/trial/store-trouble.ts';
import { orderUpdateId } from '../../proof/trial/trial.ts';
import type { Chance } from './chance.ts';
import { poisonPages, poisonProcesses } from './poison.ts';
import { knowsProcesses } from './process-of-port.ts';

export const mischiefKinds = [
  ...(['kill', 'drop', 'throttle', 'pause', 'redeliver', 'store'] as const),
  ...(['page', 'process'] as const),
] as const;
export type MischiefKind = (typeof mischiefKinds)[number];

export interface MischiefOptions {
  readonly trial: LocalTrial;
  readonly chance: Chance;
  readonly kinds: readonly MischiefKind[];
  readonly turns: number;
  readonly numberIds: readonly string[];
  /**
   * Resolves in the middle of the campaign, after every dispatch was accepted: a send with a paused template is
   * refused.
   */
  readonly midway: Promise<unknown>;
  readonly signal: AbortSignal;
}

export type Deeds = Map<string, number>;

/**
 * Injects faults into a running stack until the turns are used up or the signal ends it. Then it clears them: numbers
 * are raised and the template is approved. Only processes of this stack are killed.
 */
export async function makeMischief(options: MischiefOptions): Promise<Deeds> {
  const { trial, chance, kinds, turns, signal } = options;
  const deeds: Deeds = new Map();
  const note = (deed: string, count = 1) => deeds.set(deed, (deeds.get(deed) ?? 0) + count);
  const control = async (route: string, body?: unknown) => {
    await call({ baseUrl: trial.platformUrl, route, body, signal: AbortSignal.timeout(30_000) });
  };
  const hands = { control, note };
  const acts = { kill, drop, throttle, redeliver, store };
  // Kills are twice as frequent as other faults, because most of them find no busy worker.
  const steady = (['kill', 'kill', 'drop', 'throttle', 'redeliver', 'store'] as const).filter((kind) =>
    kinds.includes(kind),
  );
  const once = { pause: pauseOnce, redeliver: redeliverCodes, page: poisonPage, process: poisonProcess };
  const beside = (['pause', 'redeliver', 'page', 'process'] as const)
    .filter((kind) => kinds.includes(kind))
    .map((kind) => once[kind](options, hands));
  for (const each of beside) each.catch(() => undefined);
  try {
    for (let turn = 0; turn < turns && !signal.aborted; turn += 1) {
      await calm(chance.between(200, 1_500), signal);
      const kind = chance.oneOf(steady);
      if (kind !== undefined) await acts[kind](options, hands);
    }
    await Promise.all(beside);
  } finally {
    await control('DELETE /_control/faults');
    for (const id of options.numberIds)
      await control(`POST /_control/numbers/${id}`, { throughput: { level: 'HIGH' } });
  }
  return deeds;
}

interface Hands {
  readonly control: (route: string, body?: unknown) => Promise<void>;
  readonly note: (deed: string, count?: number) => void;
}

/**
 * Kills a busy worker of any function with SIGKILL, as if its host had died: half a minute later another run sends from
 * its number. Pages that this run itself calls are spared.
 */
async function kill({ trial: { stack }, chance }: MischiefOptions, { note }: Hands): Promise<void> {
  // A sender is busy all the time: by process, nearly every kill would meet one.
  const workers = new Set(stack.template.eventSources.map(({ functionId }) => functionId));
  const worker = stack.template.functions[chance.oneOf([...workers]) ?? '']?.name ?? '';
  const purpose = purposeOf(stack.addresses.stage, worker);
  const victim = chance.oneOf(pidsOf(stack, purpose));
  if (victim !== undefined && killed(victim)) note(`killed ${purpose}`);
}

const sends = { method: 'POST', path: '/messages' };

/** Loses the next answers: mostly after the message was taken, sometimes slowly, sometimes before. */
async function drop({ chance }: MischiefOptions, { control, note }: Hands): Promise<void> {
  const drop = chance.between(1, 3) === 1 ? 'before' : 'after';
  const slowly = chance.between(1, 2) === 1 ? { delay_ms: chance.between(500, 4_000) } : {};
  const times = chance.between(1, 3);
  await control('POST /_control/faults', { match: sends, action: { drop, ...slowly }, times });
  note(`answers dropped ${drop} the message was taken`, times);
}

/** Refuses the next messages, or changes a number to 80 or to 1,000 a second. */
async function throttle({ chance, numberIds }: MischiefOptions, { control, note }: Hands): Promise<void> {
  if (chance.between(1, 2) === 1) {
    const times = chance.between(5, 20);
    await control('POST /_control/faults', { match: sends, action: { code: 130429 }, times });
    return note('messages refused for the pace', times);
  }
  const level = chance.between(1, 2) === 1 ? 'STANDARD' : 'HIGH';
  await control(`POST /_control/numbers/${chance.oneOf(numberIds)}`, { throughput: { level } });
  note(`a number made ${level}`);
}

/** Makes many requests to the tables fail, slow down or lose their replies, for a second or two. */
async function store({ chance, trial: { store: tables } }: MischiefOptions, { note }: Hands): Promise<void> {
  const kind = chance.oneOf(troubleKinds) ?? 'error';
  tables.trouble(kind, chance.between(3, 9) / 10, chance.between(500, 2_500));
  note(`tables in trouble: ${kind}`);
}

/** Redelivers waiting messages of a queue, at once or a little later. */
async function redeliver({ chance, trial: { queues } }: MischiefOptions, { note }: Hands): Promise<void> {
  const queue = chance.oneOf(['dispatch', 'dispatch', 'dispatch', 'receipts'] as const) ?? 'dispatch';
  const copies = await queues.deliverTwice(queue, chance.between(0, 10));
  if (copies > 0) note(`${queue} messages delivered twice`, copies);
}

/** Workers take one-time codes off their queue at once, so this consumer waits there all the time to meet some. */
async function redeliverCodes({ trial: { queues }, signal }: MischiefOptions, { note }: Hands): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    const copies = await queues.deliverTwice('urgent', turn % 11);
    if (copies > 0) note('urgent messages delivered twice', copies);
    // Each turn uses up a delivery of the waiting messages.
    await calm(1_500, signal);
  }
}

/** Pauses the template once for its quality, in the middle of the campaign, and approves it again later. */
async function pauseOnce({ midway, chance, signal }: MischiefOptions, hands: Hands): Promise<void> {
  const waitMs = chance.between(0, 1_000);
  const pausedMs = chance.between(8_000, 15_000);
  await Promise.race([midway, aborted(signal)]);
  await calm(waitMs, signal);
  if (signal.aborted) return;
  await hands.control(`POST /_control/templates/${orderUpdateId}/pause`, {});
  hands.note('template paused and resumed');
  await calm(pausedMs, signal);
  await hands.control(`POST /_control/templates/${orderUpdateId}`, { status: 'APPROVED' });
}

/** A run gives a dispatch up after some seconds, and tries it a minute later. */
const poisonedPageMs = { least: 15_000, most: 40_000 };
/** Two deaths cost leases; after the third the dispatch is alone, and waits ever longer. */
const deaths = 4;
const poisonedProcessMs = 180_000;

/** Makes the stored recipients of one dispatch unreadable, then readable again. */
async function poisonPage({ trial, midway, chance, signal }: MischiefOptions, { note }: Hands): Promise<void> {
  await Promise.race([midway, aborted(signal)]);
  // The largest is under way the longest.
  const [dispatch] = [...trial.dispatches].sort((one, other) => other.total - one.total);
  if (signal.aborted || dispatch === undefined) return;
  const mend = await poisonPages(trial, dispatch);
  note('dispatches whose pages were unreadable');
  await calm(chance.between(poisonedPageMs.least, poisonedPageMs.most), signal);
  await mend();
}

/** Makes one dispatch kill each process of the sender that reads its recipients, some times. */
async function poisonProcess({ trial, signal }: MischiefOptions, { note }: Hands): Promise<void> {
  if (!knowsProcesses) return console.log('no process dies of a dispatch: only Linux says which one reads it');
  const enough = new AbortController();
  let died = 0;
  const mend = poisonProcesses(trial, () => {
    died += 1;
    note('processes that died of a dispatch');
    if (died === deaths) enough.abort();
  });
  await calm(poisonedProcessMs, AbortSignal.any([signal, enough.signal]));
  mend();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Waits; an abort ends the wait at once. */
async function calm(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
