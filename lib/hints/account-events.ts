import type { Waba } from '../access/directory.ts';
import { type AccountUpdate, matterScopes } from '../platform/webhook/account-update.ts';
import { eventId, type ServiceEvent } from '../webhooks/event.ts';

/**
 * Makes events for a WABA's clients from account updates of the platform (D41). WABA, update and the platform's time
 * make the event id, so repeated webhooks are idempotent.
 */
export function accountEvents(
  { wabaId, clientIds }: Pick<Waba, 'wabaId' | 'clientIds'>,
  updates: readonly AccountUpdate[],
): ServiceEvent[] {
  return updates.flatMap((update) => clientIds.map((clientId) => accountEvent(clientId, wabaId, update)));
}

function accountEvent(clientId: number, wabaId: string, update: AccountUpdate): ServiceEvent {
  const { kind, matter, word, code, atMs, untilMs, remediation } = update;
  const type = `account.${kind}` as const;
  const event = { id: eventId(type, clientId, [wabaId, word, atMs]), clientId, timestampMs: atMs };
  const data = { waba_id: wabaId, scope: matterScopes[matter], platform_word: word, code };
  if (type === 'account.restored') return { ...event, type, data };
  const until = untilMs === undefined ? undefined : new Date(untilMs).toISOString();
  return { ...event, type, data: { ...data, until, remediation } };
}
