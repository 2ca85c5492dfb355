import { randomInt, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { audience } from '../../infra/local/demo/audience.ts';
import { call } from '../../infra/local/demo/client.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { smallRequestBody } from '../../lib/messages/accept/hand-over.ts';
import { messageIdOf } from '../../lib/messages/dispatch/head.ts';
import { encodeSenderWake } from '../../lib/messages/dispatch/sender-wake.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { type FunctionProcess, startFunction } from './function-process.ts';
import { benchTable } from './template-tables.ts';

/** The demo's number may send so much; its one sender has all of it. */
const limitPerSecond = 1_000;
const phoneNumberId = '300000000000001';

/** The functions that send, each in a process of its own, before a messages table that no other benchmark fills. */
export interface OwnSenders {
  start(
    name: 'messages-dispatch' | 'messages-dispatch-urgent',
    changes?: Parameters<typeof startFunction>[2],
  ): FunctionProcess;
  /** Puts a dispatch of so many recipients into the number's backlog. */
  accept(recipients: number): Promise<void>;
  /** So many one-time codes of one recipient each come in one batch. Acceptance has mostly begun them by then. */
  codesEvent(requests: number, how: { readonly begun: boolean }): Promise<unknown>;
  /** The simulator has taken so many messages by now. */
  taken(): Promise<number>;
}

export async function ownSenders(stack: RunningStack, name: string, signal: AbortSignal): Promise<OwnSenders> {
  const { documentClient, tableName } = await benchTable(stack, name, 'messages');
  const pause = async () => undefined;
  const accepted = acceptedDispatchesStore(tableOf(documentClient, tableName, { nowMs: Date.now, pause }), pause);
  return {
    start: (of, changes = {}) =>
      startFunction(stack, of, { ...changes, variables: { ...changes.variables, MESSAGES_TABLE: tableName } }),
    accept: async (recipients) => {
      const dispatch = newDispatch(recipients);
      await accepted.store(dispatch, signal);
      await accepted.begin(dispatch.head, signal);
    },
    codesEvent: async (requests, { begun }) => {
      const dispatches = Array.from({ length: requests }, () => newDispatch(1, { urgent: true }));
      if (begun) for (const dispatch of dispatches) await accepted.beginStraight(dispatch);
      const bodies = await Promise.all(dispatches.map((each) => smallRequestBody(each, async () => limitPerSecond)));
      return { Records: bodies.map((body = '') => recordOf(body)) };
    },
    taken: async () => {
      const route = 'GET /_control/messages?limit=0';
      const { json } = await call({ baseUrl: stack.addresses.platformUrl, route, signal });
      return v.parse(TakenSchema, json).total;
    },
  };
}

const TakenSchema = v.object({ total: v.number() });

/** Wakes the number's only sender. */
export function wakeEvent() {
  return { Records: [recordOf(encodeSenderWake({ phoneNumberId, part: 0, of: 1, delaySeconds: 0 }))] };
}

/** Returns what the platform gets for a dispatch of so many, and where. */
export function postings(recipients: number) {
  const { head, plan, recipients: all } = newDispatch(recipients);
  const { dispatchId, credential, path } = head;
  const requests = all.map((recipient, index) => composeMessage(plan, recipient, messageIdOf({ dispatchId, index })));
  return { credential, path: `${phoneNumberId}/${path}`, requests };
}

function newDispatch(recipients: number, head: Parameters<typeof makeDispatch>[1] = {}): WholeDispatch {
  const asked = audience(recipients, randomInt(10 ** 8)).map(({ to, params: { body, buttons } }) => {
    return { to, params: { body: [...body], buttons: [...buttons] } };
  });
  const dispatchId = `01${randomUUID().replaceAll('-', '').slice(0, 24).toUpperCase()}`;
  const facts = { dispatchId, phoneNumberId, acceptedAtMs: Date.now(), throughputPerSecond: limitPerSecond };
  return makeDispatch(asked, { ...facts, credential: 'demo', receiptsExpected: true, ...head });
}

function recordOf(body: string) {
  return {
    messageId: randomUUID(),
    receiptHandle: randomUUID(),
    body,
    attributes: { ApproximateReceiveCount: '1', SentTimestamp: String(Date.now()) },
    messageAttributes: {},
    eventSource: 'aws:sqs',
  };
}
