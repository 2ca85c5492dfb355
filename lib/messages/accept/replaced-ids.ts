import { isUserId } from '../../platform/user-id.ts';
import type { FindReplacements, Replacement } from '../inbound/replaced-ids.ts';
import type { Recipient } from '../job.ts';

/*
 * A person's business-scoped user id becomes another one, and the platform says which (platform reference, 4.5). What is sent to
 * the old one from then on goes to the new one. Followed at acceptance alone, before repeated recipients are dropped: a message
 * that were redirected later could meet another one to the same person, and what is told of it would name somebody else.
 */

/** A recipient by the position in the request, and to whom it goes. */
export type Redirected = readonly [position: number, to: string];

/** A person's ids change with the number: one with more changes in a memory of 400 days is left where these end. */
const maxSteps = 5;
const maxNamed = 20;

/**
 * The recipients, each to the id that its person has now, and which of them that changed. Numbers are never asked for, and
 * without user ids nothing is read; else one read for each step of the longest way.
 */
export async function withCurrentIds(
  recipients: readonly Recipient[],
  wabaId: string,
  find: FindReplacements,
): Promise<{ readonly recipients: readonly Recipient[]; readonly redirected: readonly Redirected[] }> {
  const userIds = recipients.map(({ to }) => to).filter(isUserId);
  const known = await replacementsFrom(userIds, (ids) => find(wabaId, ids));
  if (known.size === 0) return { recipients, redirected: [] };
  const redirected: Redirected[] = [];
  const current = recipients.map((recipient, position) => {
    const to = currentId(recipient.to, known);
    if (to === recipient.to) return recipient;
    redirected.push([position, to]);
    return { ...recipient, to };
  });
  return { recipients: current, redirected };
}

async function replacementsFrom(
  userIds: readonly string[],
  find: (userIds: readonly string[]) => Promise<ReadonlyMap<string, Replacement>>,
): Promise<ReadonlyMap<string, Replacement>> {
  const known = new Map<string, Replacement>();
  const asked = new Set<string>();
  let open = new Set(userIds);
  for (let step = 0; step < maxSteps && open.size > 0; step += 1) {
    const found = await find([...open]);
    for (const userId of open) asked.add(userId);
    for (const [userId, replacement] of found) known.set(userId, replacement);
    open = new Set([...found.values()].map(({ by }) => by).filter((by) => !asked.has(by)));
  }
  return known;
}

/** Each step is later than the one before it: so words that lead in a circle end, at the id that was told last. */
function currentId(userId: string, known: ReadonlyMap<string, Replacement>): string {
  let [current, sinceMs] = [userId, Number.NEGATIVE_INFINITY];
  for (;;) {
    const next = known.get(current);
    if (next === undefined || next.atMs <= sinceMs) return current;
    [current, sinceMs] = [next.by, next.atMs];
  }
}

/** The sentence of `warning` about redirected recipients; undefined when there is none. */
export function redirectedWarning(redirected: readonly Redirected[]): string | undefined {
  if (redirected.length === 0) return undefined;
  const named = redirected.slice(0, maxNamed).map(([position, to]) => `recipients[${position}] to ${to}`);
  const more = redirected.length - named.length;
  return `user ids that the platform has replaced are followed: ${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
