import { isUserId } from '../../platform/user-id.ts';
import type { Recipient } from '../dispatch/head.ts';
import type { FindReplacements, Replacement } from '../inbound/replaced-ids.ts';

// The platform says which business-scoped user id replaces another (platform reference, 4.5). Acceptance follows the
// chain before it drops repeats.

// A message redirected later could repeat another one to the same person, and its events would name another recipient.

export type Redirected = readonly [position: number, to: string];

/** An id changes with the person's number. More changes within the memory of 400 days are not followed. */
const maxSteps = 5;
const maxNamed = 20;

/** Makes one read per step of the longest chain, and none without user ids. */
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

/** Each step must be later than the one before, so a circle ends at the newest id. */
function currentId(userId: string, known: ReadonlyMap<string, Replacement>): string {
  let [current, sinceMs] = [userId, Number.NEGATIVE_INFINITY];
  for (;;) {
    const next = known.get(current);
    if (next === undefined || next.atMs <= sinceMs) return current;
    [current, sinceMs] = [next.by, next.atMs];
  }
}

export function redirectedWarning(redirected: readonly Redirected[]): string | undefined {
  if (redirected.length === 0) return undefined;
  const named = redirected.slice(0, maxNamed).map(([position, to]) => `recipients[${position}] to ${to}`);
  const more = redirected.length - named.length;
  return `user ids that the platform has replaced are followed: ${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
