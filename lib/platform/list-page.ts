import * as v from 'valibot';
import { PlatformFailure } from './failure.ts';
import type { PlatformReply } from './transport.ts';

export interface ListPage {
  /** Entries have no null keys, down to `maxLevels`. */
  readonly entries: readonly unknown[];
  /** The last page has none. */
  readonly after?: string;
}

const ListReplySchema = v.object({
  data: v.array(v.unknown()),
  paging: v.optional(
    v.object({
      cursors: v.optional(v.object({ after: v.optional(v.string()) })),
      next: v.optional(v.string()),
    }),
  ),
});

/** Throws `PlatformFailure` on another reply, and on a cursor that does not move on. */
export function readList(reply: PlatformReply, askedAfter: string | undefined): ListPage {
  const parsed = v.safeParse(ListReplySchema, reply.body);
  if (!parsed.success) throw new PlatformFailure('ambiguous', { cause: new Error('not a list') });
  const { data, paging } = parsed.output;
  // A short page says nothing: only the absence of `next` ends the list.
  const after = paging?.next === undefined ? undefined : (paging.cursors?.after ?? cursorOf(paging.next));
  if (after !== undefined && after === askedAfter) {
    throw new PlatformFailure('ambiguous', { cause: new Error('the cursor does not move on') });
  }
  return { entries: data.map((entry) => withoutNulls(entry)), after };
}

/** `next` repeats the token and may name any host, so only its cursor is taken. */
function cursorOf(next: string): string {
  const after = URL.parse(next)?.searchParams.get('after');
  if (after) return after;
  throw new PlatformFailure('ambiguous', { cause: new Error('a further page without cursor') });
}

/** Every schema is less deep, and a stack overflow is far away. */
const maxLevels = 100;

/** The platform writes null for an unset key; the schemas know only its absence. */
export function withoutNulls(value: unknown, level = 0): unknown {
  if (value === null || typeof value !== 'object' || level === maxLevels) return value;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, level + 1));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([name, item]) => [name, withoutNulls(item, level + 1)]),
  );
}
