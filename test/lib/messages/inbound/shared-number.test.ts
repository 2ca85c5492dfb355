import { expect, test } from 'vitest';
import { repliedToFinder } from '../../../../lib/messages/inbound/find-replied-to.ts';
import type { InboundUpdate } from '../../../../lib/messages/inbound/inbound-message.ts';
import { type RecordPorts, recordInbound } from '../../../../lib/messages/inbound/record-inbound.ts';
import { replyPayload } from '../../../../lib/messages/reply-payload.ts';
import type { OptOutChange } from '../../../../lib/opt-outs/entry.ts';
import { optOutOf } from '../../../../lib/opt-outs/opt-out-view.ts';
import { noOptOuts } from '../../../../lib/opt-outs/person.ts';
import type { ListedRow, OptOutPorts } from '../../../../lib/opt-outs/record-opt-out.ts';
import { textOf } from '../../../../lib/opt-outs/scope.ts';
import { stopWordMatcher, stopWords } from '../../../../lib/opt-outs/stop-words.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { makeChannel, makeWaba } from '../../../support/directory.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryOptOuts } from '../../../support/memory-opt-outs.ts';
import { thorough } from '../../../support/thorough.ts';

/**
 * Two clients send from one number, and all that a person or the platform can say to it comes in every order. A client
 * must be told and shown what it would be without what others were told.
 */
const clients = [1001, 1002] as const;
const number = { wabaId: '200000000000001', phoneNumberId: '300000000000001' };
const did = { channel: makeChannel(number), waba: makeWaba({ clientIds: clients }) };
const person = { waId: '5491155550001', userId: 'AR.1' };
const startMs = 1_800_000_000_000;

/** Each client has sent one message, which the platform names like its dispatch. */
const dispatchOf = (clientId: number) => `01M80HXQNCYVAMMXGBXAHJ${clientId}`;
const heads = new Map(
  clients.map((clientId) => [
    dispatchOf(clientId),
    makeDispatchHead({ ...number, clientId, dispatchId: dispatchOf(clientId), total: 1, acceptedAtMs: startMs }),
  ]),
);

/** What is said, and the client to whose message it was. */
interface Said {
  readonly to: number | undefined;
  readonly says?: OptOutChange['says'];
  /** A word stands for a client or the number; what the platform says is the number's for both. */
  readonly by: 'person' | 'platform';
  readonly update: (atMs: number) => InboundUpdate;
}

const facts = (atMs: number) => ({ person, atMs, receivedAtMs: startMs + 60_000 });

function repliesTo(to: number | undefined): Said[] {
  const toMessageId = to === undefined ? undefined : dispatchOf(to);
  const reply = (told: Extract<InboundUpdate, { kind: 'reply' }>['reply'], says?: Said['says']): Said => ({
    ...{ to, says, by: 'person' },
    update: (atMs) => ({ kind: 'reply', ...facts(atMs), messageId: `wamid.${atMs}.${told.text}`, reply: told }),
  });
  const payload = to === undefined ? 'of another app' : replyPayload(`${dispatchOf(to)}-0`, { button: 0 });
  return [
    reply({ by: 'text', text: 'STOP', toMessageId: toMessageId ?? 'wamid.unknown' }, 'stopped'),
    reply({ by: 'text', text: 'START', toMessageId }, 'started'),
    reply({ by: 'text', text: 'When?', toMessageId }),
    reply({ by: 'quick_reply', text: 'Stop promotions', payload }, 'stopped'),
  ];
}

const all: readonly Said[] = [
  ...[undefined, ...clients].flatMap(repliesTo),
  ...(['stop', 'resume'] as const).map(
    (says): Said => ({
      ...{ to: undefined, by: 'platform', says: says === 'stop' ? 'stopped' : 'started' },
      update: (atMs) => ({ kind: 'preference', ...facts(atMs), says }),
    }),
  ),
  ...clients.map(
    (clientId): Said => ({
      ...{ to: clientId, by: 'platform', says: 'stopped' },
      update: (atMs) => ({ kind: 'refused', clientId, recipients: [person.waId], atMs }),
    }),
  ),
  {
    ...{ to: undefined, by: 'platform' },
    update: (atMs) => ({ kind: 'id_changed', ...facts(atMs), person: { userId: 'AR.2' }, old: { userId: 'AR.1' } }),
  },
];

type Timed = Said & { readonly atMs: number };

async function heard(said: readonly Timed[]) {
  const people = new MemoryOptOuts();
  const rows: (ListedRow & { readonly clientId: number })[] = [];
  const optOuts: OptOutPorts = {
    ...people.writer(),
    list: async (clientId, row) => void rows.push({ ...row, clientId }),
  };
  const ports: RecordPorts = {
    optOuts,
    judge: stopWordMatcher(stopWords),
    answered: repliedToFinder({
      findHeads: async () => heads,
      findSentId: async ({ platformMessageId: dispatchId }) =>
        heads.has(dispatchId) ? { dispatchId, index: 0 } : undefined,
    }),
    addressOf: async () => person.waId,
    noteReplacedIds: async () => undefined,
    note: () => undefined,
  };
  const events: ServiceEvent[] = [];
  for (const { update, atMs } of said) events.push(...(await recordInbound(update(atMs), { ...number, did }, ports)));
  const stopped = (clientId: number) => people.stoppedAmong({ clientId, ...number }, [person.waId]).size > 0;
  const seenBy = (clientId: number) => {
    const scopes = new Set([textOf({ kind: 'client', clientId }), textOf({ kind: 'number', ...number })]);
    const told = events.filter((event) => event.clientId === clientId).map((event) => JSON.stringify(event));
    const shown = rows.flatMap(({ name, recipient, ...row }) =>
      row.clientId === clientId
        ? [JSON.stringify(optOutOf(recipient, people.people.get(name) ?? noOptOuts, { clientId, scopes }))]
        : [],
    );
    return { told: [...new Set(told)].sort(), shown: [...new Set(shown)].sort() };
  };
  return { stopped, seenBy };
}

/** The latest of these holds; of one time, a stop. */
function isStop(said: readonly Timed[]): boolean {
  const words = said.filter(({ says }) => says !== undefined);
  const lastMs = Math.max(...words.map(({ atMs }) => atMs));
  return words.some(({ says, atMs }) => atMs === lastMs && says === 'stopped');
}

function expectedStop(said: readonly Timed[], clientId: number): boolean {
  const isResume = ({ by, says }: Timed) => by === 'platform' && says === 'started';
  return [
    said.filter(({ by, to }) => by === 'person' && to === clientId),
    said.filter(({ by }) => by === 'platform'),
    said.filter((word) => isResume(word) || (word.by === 'person' && word.to === undefined)),
  ].some(isStop);
}

const length = thorough ? 3 : 2;
/** The platform's clock has whole seconds: of some words it is the same, and they arrive in any order. */
const clocks: readonly (readonly number[])[] = [
  [1, 1, 1],
  [1, 2, 3],
  [2, 1, 3],
  [3, 2, 1],
];

function sequences(of: number): Said[][] {
  return of === 0 ? [[]] : sequences(of - 1).flatMap((before) => all.map((next) => [...before, next]));
}

test('on a shared number no client is told or shown what was said to another, or to none; each stop counts (D55)', async () => {
  const met = { told: 0, silent: 0, stopped: 0, free: 0 };
  for (const words of sequences(length)) {
    for (const clock of clocks) {
      const said = words.map((word, at) => ({ ...word, atMs: startMs + 1_000 * (clock[at] ?? 0) }));
      const { stopped, seenBy } = await heard(said);
      for (const clientId of clients) {
        const way = `${clientId}: ${said.map(({ update, atMs }) => JSON.stringify(update(atMs))).join('\n')}`;
        const { told, shown } = seenBy(clientId);
        const own = said.filter(({ by, to }) => by === 'platform' || to === clientId);
        expect({ told, shown }, way).toEqual((await heard(own)).seenBy(clientId));
        const isSpokenTo = said.some(({ to }) => to === clientId);
        expect([...told, ...shown].length > 0, way).toBe(isSpokenTo);
        expect(stopped(clientId), way).toBe(expectedStop(said, clientId));
        met[isSpokenTo ? 'told' : 'silent'] += 1;
        met[stopped(clientId) ? 'stopped' : 'free'] += 1;
      }
    }
  }
  expect(Object.values(met).every((times) => times > 100)).toBe(true);
}, 300_000);
