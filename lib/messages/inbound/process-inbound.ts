import * as v from 'valibot';
import type { Did, Directory } from '../../access/directory.ts';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import { queuedMessage } from '../../aws/queued-message.ts';
import type { ChannelStore } from '../../channels/channel-store.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import type { OptOutPorts } from '../../opt-outs/record-opt-out.ts';
import { type StopWordList, stopWordMatcher } from '../../opt-outs/stop-words.ts';
import type { EventSink, ServiceEvent } from '../../webhooks/event.ts';
import { type InboundMessage, InboundMessageSchema, inboundMessageVersion } from './inbound-message.ts';
import { type ReceivingNumber, type RecordPorts, recordInbound } from './record-inbound.ts';

export interface InboundPorts extends Omit<RecordPorts, 'optOuts' | 'judge' | 'note'> {
  readonly optOuts: () => Promise<OptOutPorts>;
  readonly words: () => Promise<StopWordList>;
  readonly channels: Pick<ChannelStore, 'findNumber'>;
  readonly directory: Pick<Directory, 'findDid'>;
  readonly events: EventSink;
  readonly remainingMs: () => number;
}

export interface InboundRecord {
  readonly messageId: string;
  readonly body: string;
}

/** No update is begun with less time left: a slow store needs twelve seconds per request. */
const wordBudgetMs = 20_000;

const messagesAtOnce = 5;
const updatesAtOnce = 5;

/** Records, then queues events. Returns the messages to deliver again. A failing update does not stop others. */
export async function processInbound(records: readonly InboundRecord[], ports: InboundPorts): Promise<string[]> {
  const failed: string[] = [];
  const tally: Record<string, number> = {};
  const note = (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1;
  };
  const read = records.map(({ messageId, body }) => ({ messageId, message: readInbound(body) }));
  await forEachConcurrently(read, messagesAtOnce, async ({ messageId, message }) => {
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
    log('inbound.unreadable', { error: errorName(error) });
    return undefined;
  }
}

/** Never throws. Returns false when the message must come again. */
async function isTaken(message: InboundMessage, note: RecordPorts['note'], ports: InboundPorts): Promise<boolean> {
  const { wabaId, words } = message;
  const events: ServiceEvent[] = [];
  let isWhole = true;
  const failedBy = (error: unknown, code?: string) => {
    isWhole = false;
    log('inbound.not_taken', { wabaId, code, error: errorName(error) });
  };
  try {
    const [number, optOuts, list] = await Promise.all([numberOf(message, ports), ports.optOuts(), ports.words()]);
    const updatePorts = { ...ports, optOuts, judge: stopWordMatcher(list), note };
    let late = 0;
    await forEachConcurrently(words, updatesAtOnce, async (update) => {
      if (ports.remainingMs() < wordBudgetMs) {
        late += 1;
        return;
      }
      try {
        events.push(...(await recordInbound(update, number, updatePorts)));
      } catch (error) {
        failedBy(error, update.kind);
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

async function numberOf(
  { wabaId, phoneNumberId, words }: InboundMessage,
  { channels, directory }: InboundPorts,
): Promise<ReceivingNumber> {
  const channel = await channels.findNumber(wabaId, phoneNumberId);
  const found = channel && (await directory.findDid(channel.waId));
  const did = isOf(found, { wabaId, phoneNumberId }) ? found : undefined;
  if (did === undefined) log('inbound.no_number', { wabaId, count: words.length });
  return { wabaId, phoneNumberId, did };
}

function isOf(
  found: Did | undefined,
  { wabaId, phoneNumberId }: Pick<ReceivingNumber, 'wabaId' | 'phoneNumberId'>,
): found is Did {
  return found?.waba.wabaId === wabaId && found.channel.phoneNumberId === phoneNumberId;
}
