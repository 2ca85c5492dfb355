import { Refusal } from '../http/refusal.ts';
import type { EventSink } from '../webhooks/event.ts';
import { sendBestEffort } from '../webhooks/send-best-effort.ts';
import { type ClientScopePorts, clientScopes } from './client-scopes.ts';
import { isStopped, type OptOutChange, type PersonSource } from './entry.ts';
import { optOutEvent } from './opt-out-event.ts';
import { type OptOut, optOutOf } from './opt-out-view.ts';
import type { PersonOptOuts } from './person.ts';
import type { Recipient } from './person-name.ts';
import { type OptOutPorts, recordOptOut } from './record-opt-out.ts';
import { type ShownScope, textOf } from './scope.ts';

export interface ClientOptOutPorts extends ClientScopePorts {
  readonly optOuts: () => Promise<OptOutPorts>;
  readonly events: EventSink;
  readonly nowMs: () => number;
}

export interface ClientOptOut {
  readonly clientId: number;
  readonly recipient: Recipient;
  readonly says: OptOutChange['says'];
}

/**
 * Records a client's change for its own messages, with an event if it had an effect. Refuses with 409 a start after the
 * person's or the platform's stop. Returns the person's state. Is idempotent, except for the event.
 */
export async function recordClientOptOut(
  { clientId, recipient, says }: ClientOptOut,
  ports: ClientOptOutPorts,
): Promise<OptOut> {
  const optOuts = await ports.optOuts();
  const scope: ShownScope = { kind: 'client', clientId };
  const before = (await knownOf(recipient, optOuts)).entries[textOf(scope)];
  // Clocks of processes differ, and a client's later request must win.
  const atMs = Math.max(ports.nowMs(), (before?.told?.atMs ?? 0) + 1);
  const word = { says, source: 'api', atMs } as const;
  const { taken, person } = await recordOptOut({ scope, recipients: [recipient], word, listedFor: clientId }, optOuts);
  const entry = person.entries[textOf(scope)] ?? {};
  if (!taken) throw stoppedByPerson(entry.said);
  if (isStopped(before ?? {}) !== isStopped(entry)) {
    // A client that answers the event with the same change gets no further event, so there is no loop.
    await sendBestEffort(ports.events, [optOutEvent({ clientId, recipients: [recipient], scope, word })]);
  }
  const shown = optOutOf(recipient, person, { clientId, scopes: await clientScopes(clientId, [person], ports) });
  if (shown === undefined) throw new Error('a change that was recorded is not there');
  return shown;
}

/** Reads strongly: a rule that changes nothing only reads. */
async function knownOf(recipient: Recipient, { change, nameOf }: OptOutPorts): Promise<PersonOptOuts> {
  return (await change(nameOf(recipient), (state) => ({ state, result: undefined }))).state;
}

const changedBy: Readonly<Record<PersonSource, string>> = {
  platform: 'the person has stopped marketing at the platform',
  refused: 'the platform has refused marketing to the person',
  reply: 'the person has stopped marketing by a reply',
  quick_reply: 'the person has stopped marketing by a button',
};

function stoppedByPerson(change: OptOutChange<PersonSource> | undefined): Refusal {
  const who = changedBy[change?.source ?? 'platform'];
  const when = change === undefined ? '' : ` on ${new Date(change.atMs).toISOString()}`;
  const message = `${who}${when}; only the person can start it again`;
  return new Refusal('opted_out_by_person', message, { errors: [{ path: 'recipient', message }] });
}
