/** The platform says that another user id replaces this one since then. */
export interface Replacement {
  readonly by: string;
  readonly atMs: number;
}

export interface ReplacedId extends Replacement {
  readonly userId: string;
}

/** Returns known replacements of these distinct ids in one WABA: portfolios have ids of their own. */
export type FindReplacements = (
  wabaId: string,
  userIds: readonly string[],
) => Promise<ReadonlyMap<string, Replacement>>;

/** Stores replaced user ids, which may come twice and late. Throws when they must come again. */
export type NoteReplacedIds = (wabaId: string, replaced: readonly ReplacedId[]) => Promise<void>;
