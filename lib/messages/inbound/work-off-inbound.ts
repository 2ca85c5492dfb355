import * as v from 'valibot';
import { queuedMessage } from '../../aws/queued-message.ts';
import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import { timeOfWord } from '../../opt-outs/entry.ts';
import { type OptOutPorts, recordChange, recordWord } from '../../opt-outs/record-word.ts';
import type { Scope } from '../../opt-outs/scope.ts';
import {
  type InboundMessage,
  InboundMessageSchema,
  type InboundWord,
  inboundMessageVersion,
  recipientsAmong,
} from './inbound-message.ts';

export interface InboundPorts {
  readonly optOuts: () => Promise<OptOutPorts>;
}

/** A message as the queue delivers it. */
export interface InboundRecord {
  readonly messageId: string;
  readonly body: string;
}

/** Works off messages of the inbound queue, each by itself; returns those that must come again. */
export async function workOffInbound(records: readonly InboundRecord[], ports: InboundPorts): Promise<string[]> {
  const failed: string[] = [];
  for (const { messageId, body } of records) {
    const message = readInbound(body);
    try {
      if (message === undefined) failed.push(messageId);
      else for (const word of message.words) await take(word, message, ports);
    } catch (error) {
      log('inbound.not_taken', { wabaId: message?.wabaId, error: nameOf(error) });
      failed.push(messageId);
    }
  }
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

async function take(word: InboundWord, { wabaId, phoneNumberId }: InboundMessage, ports: InboundPorts): Promise<void> {
  const optOuts = await ports.optOuts();
  const scope: Scope = { kind: 'number', wabaId, phoneNumberId };
  if (word.kind === 'respelled') return await recordChange({ ...word, old: [] }, optOuts);
  if (word.kind === 'refused') {
    const { recipients, atMs, clientId } = word;
    const said = { says: 'stopped', atMs, source: 'refused' } as const;
    return void (await recordWord({ scope, recipients, word: said, clientIds: [clientId] }, optOuts));
  }
  const { person, receivedAtMs } = word;
  const recipients = recipientsAmong([person.waId, person.userId, person.parentUserId]);
  if (word.kind === 'id_changed') {
    const old = recipientsAmong([word.old.waId, word.old.userId]);
    return await recordChange({ old, recipients, atMs: Math.min(word.atMs ?? receivedAtMs, receivedAtMs) }, optOuts);
  }
  if (word.kind !== 'preference') return;
  const says = word.says === 'stop' ? 'stopped' : 'started';
  const atMs = timeOfWord(says, word.atMs, receivedAtMs);
  if (atMs === undefined) return;
  const said = { says, atMs, source: 'platform' } as const;
  await recordWord({ scope, recipients, word: said, clientIds: [] }, optOuts);
}
