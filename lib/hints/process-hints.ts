import * as v from 'valibot';
import type { Directory, Waba } from '../access/directory.ts';
import { maxDelaySeconds } from '../aws/queue-body.ts';
import { queuedMessage } from '../aws/queued-message.ts';
import type { DelayedQueue } from '../aws/sqs-batch.ts';
import type { ChannelStore } from '../channels/channel-store.ts';
import { errorName } from '../observe/error-name.ts';
import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import type { AccountUpdate } from '../platform/webhook/account-update.ts';
import { accountEvents } from './account-events.ts';
import { CallAllowance } from './call-allowance.ts';
import { type HintMessage, HintMessageSchema, hintMessageVersion } from './hint-message.ts';
import { type Ending, hintsArrived, type Step, type Turn, turnEnded, wakeSent } from './hint-state.ts';
import type { HintStore } from './hint-store.ts';
import { mergedTasks, noTask, type RefreshTask } from './refresh-task.ts';
import { type ReadingPorts, refreshWaba } from './refresh-waba.ts';
import { heedTemplateWord, type WordPorts } from './template-words.ts';

export interface HintPorts extends ReadingPorts {
  readonly directory: Pick<Directory, 'listWabas' | 'listClientIds'>;
  readonly channels: Pick<ChannelStore, 'numbersOf'>;
  readonly hints: HintStore;
  readonly queue: DelayedQueue<HintMessage>;
  readonly templateHolds: WordPorts['templateHolds'];
  /**
   * Applies account updates of a WABA; is idempotent. Returns those to send as events. Throws when the message must be
   * retried.
   */
  readonly applyAccountUpdates: (wabaId: string, words: readonly AccountUpdate[]) => Promise<readonly AccountUpdate[]>;
}

export interface HintRecord {
  readonly messageId: string;
  readonly body: string;
}

/**
 * Applies account updates and words that make a template stricter at once, with their events (D41, D42, D46); the rest
 * is read now, or gathered for the WABA's next turn. Returns the messages to retry.
 */
export async function processHints(records: readonly HintRecord[], ports: HintPorts): Promise<string[]> {
  const read = records.map(({ messageId, body }) => ({ messageId, hint: readHint(body) }));
  const failed = read.filter(({ hint }) => hint === undefined).map(({ messageId }) => messageId);
  const hints = read.flatMap(({ messageId, hint }) => (hint === undefined ? [] : [{ messageId, hint }]));
  const byWaba = Map.groupBy(hints, ({ hint }) => hint.wabaId);
  await Promise.all(
    [...byWaba].map(async ([wabaId, ofWaba]) => {
      try {
        await processWaba(
          ports,
          wabaId,
          ofWaba.map(({ hint }) => hint),
        );
      } catch (error) {
        log('hint.not_read', { wabaId, error: errorName(error) });
        failed.push(...ofWaba.map(({ messageId }) => messageId));
      }
    }),
  );
  return failed;
}

function readHint(body: string): HintMessage | undefined {
  try {
    return v.parse(HintMessageSchema, queuedMessage(body, hintMessageVersion));
  } catch (error) {
    log('hint.unreadable', { error: errorName(error) });
    return undefined;
  }
}

async function processWaba(ports: HintPorts, wabaId: string, messages: readonly HintMessage[]): Promise<void> {
  const { hints, nowMs } = ports;
  const account = messages.flatMap((message) => message.account ?? []);
  // Account updates come before the look-up: they need no client, and a failed reading must not delay them.
  const applied = account.length === 0 ? [] : await ports.applyAccountUpdates(wabaId, account);
  const waba = await findWaba(ports, wabaId);
  if (waba === undefined) return log('hint.no_waba', { wabaId });
  // Events follow the write of holds. A later failure repeats the account updates, and their events with the same ids.
  if (applied.length > 0) await ports.events.send(accountEvents(waba, applied));
  for (const word of messages.flatMap(({ words = [] }) => words)) await heedTemplateWord(waba, word, ports);
  const task = messages.map(taskOf).reduce(mergedTasks, noTask);
  const wakesAtMs = messages.flatMap(({ wakeAtMs }) => wakeAtMs ?? []);
  const step = await hints.change(wabaId, (state) => hintsArrived(state, { task, wakesAtMs }, nowMs()));
  if (step.kind === 'read') {
    const ending = await takeTurn(ports, waba, step.turn);
    await wakeLater(ports, wabaId, await hints.change(wabaId, (state) => turnEnded(state, ending, nowMs())));
  } else await wakeLater(ports, wabaId, step);
}

function taskOf({ templateIds, numbers, everything = false }: HintMessage): RefreshTask {
  return { templateIds, numbers, everything };
}

async function takeTurn(ports: HintPorts, waba: Waba, turn: Turn): Promise<Ending> {
  const ending = await refreshWaba(ports, waba, turn, new CallAllowance(turn.calls));
  await ports.templateHolds.heedReadings(waba.wabaId).catch((error: unknown) => {
    // The sender of what still waits reads the template itself.
    log('hold.not_changed', { wabaId: waba.wabaId, error: errorName(error) });
  });
  count('HintTurns');
  log('hint.read', { wabaId: waba.wabaId, count: ending.callsMade, outcome: JSON.stringify(ending.left) });
  return ending;
}

/** Sends first, notes afterwards: a crash in between duplicates a message, which finds nothing to do. */
async function wakeLater(ports: HintPorts, wabaId: string, step: Step): Promise<void> {
  if (step.kind !== 'wake') return;
  const { atMs } = step;
  const delaySeconds = Math.max(1, Math.ceil((atMs - ports.nowMs()) / 1_000));
  const { templateIds, numbers } = noTask;
  await ports.queue.sendLater(
    { version: 1, wabaId, templateIds: [...templateIds], numbers, wakeAtMs: atMs },
    Math.min(delaySeconds, maxDelaySeconds),
  );
  await ports.hints.change(wabaId, (state) => ({
    state: wakeSent(state, atMs, ports.nowMs()),
    step: { kind: 'done' },
  }));
}

/** Finds a WABA as one of its clients has it. Its numbers name clients; without numbers all clients are searched. */
async function findWaba({ directory, channels }: HintPorts, wabaId: string): Promise<Waba | undefined> {
  const ofNumbers = new Set((await channels.numbersOf(wabaId)).map(({ clientId }) => clientId));
  for (const clientId of ofNumbers) {
    const waba = (await directory.listWabas(clientId)).find((each) => each.wabaId === wabaId);
    if (waba !== undefined) return waba;
  }
  for (const clientId of await directory.listClientIds()) {
    if (ofNumbers.has(clientId)) continue;
    const waba = (await directory.listWabas(clientId)).find((each) => each.wabaId === wabaId);
    if (waba !== undefined) return waba;
  }
  return undefined;
}
