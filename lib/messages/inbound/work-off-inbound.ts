import * as v from 'valibot';
import type { Did, Directory } from '../../access/directory.ts';
import { queuedMessage } from '../../aws/queued-message.ts';
import { sideBySide } from '../../aws/side-by-side.ts';
import type { ChannelStore } from '../../channels/channel-store.ts';
import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { OptOutPorts } from '../../opt-outs/record-word.ts';
import { type WordList, wordJudge } from '../../opt-outs/stop-words.ts';
import type { EventSink, ServiceEvent } from '../../webhooks/event.ts';
import { type InboundMessage, InboundMessageSchema, inboundMessageVersion } from './inbound-message.ts';
import { type HeardNumber, takeWord, type WordPorts } from './take-word.ts';

export interface InboundPorts extends Omit<WordPorts, 'optOuts' | 'judge' | 'note'> {
  readonly optOuts: () => Promise<OptOutPorts>;
  readonly words: () => Promise<WordList>;
  readonly channels: Pick<ChannelStore, 'findNumber'>;
  readonly directory: Pick<Directory, 'findDid'>;
  /** For what the clients want to be told. */
  readonly events: EventSink;
  readonly remainingMs: () => number;
}

/** A message as the queue delivers it. */
export interface InboundRecord {
  readonly messageId: string;
  readonly body: string;
}

/** With less time left no word is begun: a store that answers late takes its requests some twelve seconds each. */
const wordBudgetMs = 20_000;

/** Words are a few small requests each. */
const messagesAtOnce = 5;
const wordsAtOnce = 5;

/**
 * Works off messages of the inbound queue: records what people have said, then queues what clients are told of it. Returns the
 * messages that must come again: of which a word or an event failed, and those for which no time was left. A word that fails takes
 * none beside it along, and nothing is told that is not recorded.
 */
export async function workOffInbound(records: readonly InboundRecord[], ports: InboundPorts): Promise<string[]> {
  const failed: string[] = [];
  const tally: Record<string, number> = {};
  const note = (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1;
  };
  const read = records.map(({ messageId, body }) => ({ messageId, message: readInbound(body) }));
  await sideBySide(read, messagesAtOnce, async ({ messageId, message }) => {
    if (message === undefined || !(await isTaken(message, note, ports))) failed.push(messageId);
  });
  const count = Object.values(tally).reduce((sum, times) => sum + times, 0);
  if (count > 0) log('inbound.taken', { count, tally });
  return failed;
}

function readInbound(body: string): InboundMessage | undefined {
  try {
    return v.parse(InboundMessageSchema, queuedMessage(body, inboundMessageVersion));
  } catch (error) {
    log('inbound.unreadable', { error: nameOf(error) });
    return undefined;
  }
}

/** Never throws; false when the message must come again. */
async function isTaken(message: InboundMessage, note: WordPorts['note'], ports: InboundPorts): Promise<boolean> {
  const { wabaId, words } = message;
  const events: ServiceEvent[] = [];
  let isWhole = true;
  const failedBy = (error: unknown, code?: string) => {
    isWhole = false;
    log('inbound.not_taken', { wabaId, code, error: nameOf(error) });
  };
  try {
    const [number, optOuts, list] = await Promise.all([numberOf(message, ports), ports.optOuts(), ports.words()]);
    const wordPorts = { ...ports, optOuts, judge: wordJudge(list), note };
    let late = 0;
    await sideBySide(words, wordsAtOnce, async (word) => {
      if (ports.remainingMs() < wordBudgetMs) {
        late += 1;
        return;
      }
      try {
        events.push(...(await takeWord(word, number, wordPorts)));
      } catch (error) {
        failedBy(error, word.kind);
      }
    });
    if (late > 0) {
      isWhole = false;
      log('inbound.late', { wabaId, count: late });
    }
    if (events.length > 0) await ports.events.send(events);
  } catch (error) {
    failedBy(error);
  }
  return isWhole;
}

/** Whose number it is, as the directory has it now. */
async function numberOf(
  { wabaId, phoneNumberId, words }: InboundMessage,
  { channels, directory }: InboundPorts,
): Promise<HeardNumber> {
  const channel = await channels.findNumber(wabaId, phoneNumberId);
  const found = channel && (await directory.findDid(channel.waId));
  const did = isOf(found, { wabaId, phoneNumberId }) ? found : undefined;
  if (did === undefined) log('inbound.no_number', { wabaId, count: words.length });
  return { wabaId, phoneNumberId, did };
}

function isOf(
  found: Did | undefined,
  { wabaId, phoneNumberId }: Pick<HeardNumber, 'wabaId' | 'phoneNumberId'>,
): found is Did {
  return found?.waba.wabaId === wabaId && found.channel.phoneNumberId === phoneNumberId;
}
