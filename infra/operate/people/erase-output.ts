import type { Erased } from '../../../lib/messages/erase/erase-person.ts';
import { recordedDays } from '../../../lib/webhooks/event-record-store.ts';
import { deadLetterRetentionDays, type QueueName, queues } from '../../queues.ts';
import { inSnakeCase } from '../snake-case.ts';

export interface Erasure {
  readonly erased: Erased;
  readonly dryRun: boolean;
  readonly clientId: number | undefined;
  readonly atMs: number;
}

/** Messages of these queues may name a recipient; the others carry only ids. */
const naming: readonly QueueName[] = ['dispatch', 'urgent', 'events', 'receipts', 'inbound'];

/** A message that waits for a hold is sent again as a new copy, for at most a day (D46). */
const circulatesDays = 1;

/** DynamoDB's period of recovery cannot be shorter for a part of a table. */
const recoveryDays = 35;

const dayMs = 86_400_000;

const wordOf: Readonly<Record<keyof Erased['changed'], string>> = {
  addresses: 'lists of recipients',
  parameters: 'pages of parameters',
  outcomes: 'slices, of which platform ids and texts went',
  receipts: 'items of receipts, the same',
  shared: 'requests, of which `attends` or the header went',
  idempotencyKeys: 'records of Idempotency-Keys',
  replacedIds: 'words that one user id has become another',
  pairs: 'paces of numbers that waited for the person',
  optOutRows: 'rows in lists of opt-outs (the opt-out stays)',
  events: `events of the last ${recordedDays} days`,
  waitingEvents: 'events that wait for a receiver',
};

/** Tells for a terminal what was erased in each place, and where copies remain. */
export function erasedAsLines({ erased, dryRun, clientId, atMs }: Erasure): string[] {
  const { dispatches, messages, pending, underWay, linkedIds, passes, readUnits, clean } = erased;
  const places = Object.entries(erased.changed) as [keyof Erased['changed'], number][];
  return [
    ...(dryRun ? ['Nothing was written. This would be erased:'] : ['Erased:']),
    `${String(messages).padStart(8)}  messages in ${dispatches} dispatches, ${pending} of them not sent: they end failed, erased`,
    ...places.map(([place, count]) => `${String(count).padStart(8)}  ${wordOf[place]}`),
    ...(linkedIds === 0
      ? []
      : [
          `Other ids of the same person, by the platform's word: ${linkedIds}. What names them ${dryRun ? 'is counted' : 'went'} as well.`,
        ]),
    ...(underWay === 0 ? [] : [`In the hands of workers at this moment: ${underWay} messages.`]),
    ...(clientId === undefined ? [] : [`Only of client ${clientId}: what other clients have of the person stays.`]),
    `The tables were read ${passes} times, ${Math.ceil(readUnits)} read units in all; ${clean ? 'the last time nothing more was found' : 'the last time something was found'}.`,
    '',
    'What this command does not reach, and the day from which nothing is there any more:',
    ...copies(atMs).map(([place, day]) => `  ${place.padEnd(44)} ${day}`),
    '  logs                                         never there: no line holds a recipient (R44)',
    'What queues still deliver is recorded after this: run it again in an hour, and on the days above if it must be proven.',
  ];
}

/** Programs read this: counts, and the places that the command does not reach, with the day until which they last. */
export function erasedAsJson({ erased, dryRun, clientId, atMs }: Erasure) {
  const { changed, unknownKinds, ...counts } = erased;
  return {
    ...{ dry_run: dryRun, client_id: clientId, ...inSnakeCase(counts), changed: inSnakeCase(changed) },
    unknown_kinds: unknownKinds,
    not_reached: copies(atMs).map(([place, gone_by]) => ({ place, gone_by })),
  };
}

function copies(atMs: number): [place: string, day: string][] {
  const after = (days: number) => new Date(atMs + (days + 1) * dayMs).toISOString().slice(0, 10);
  const ofQueues = naming.map((name): [string, string] => {
    const circulates = name === 'dispatch' || name === 'urgent' ? circulatesDays : 0;
    return [`queue ${name}`, after(queues[name].retentionDays + circulates)];
  });
  return [
    ...ofQueues,
    ['dead letters of these queues', after(deadLetterRetentionDays + circulatesDays)],
    ['backups (point-in-time recovery of tables)', after(recoveryDays)],
  ];
}

/** Returns what the log says. A keyed digest names the person, so only holders of the key can prove it for a number. */
export function erasureLogged(
  { erased, dryRun, clientId, atMs }: Erasure,
  { by, stage, names }: { readonly by: string; readonly stage: string | undefined; readonly names: readonly string[] },
) {
  const { dispatches, messages, pending, underWay, changed, linkedIds, clean } = erased;
  return {
    ...{ event: 'person.erased', at: new Date(atMs).toISOString(), by, stage: stage ?? 'local', dryRun, clientId },
    ...{
      people: names.map((name) => name.slice(0, 12)),
      linkedIds,
      dispatches,
      messages,
      pending,
      underWay,
      clean,
      changed,
    },
  };
}
