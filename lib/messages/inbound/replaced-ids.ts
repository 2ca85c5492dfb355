/** The platform's word on a user id that is no more: which one has taken its place, and since when. */
export interface Replacement {
  readonly by: string;
  readonly atMs: number;
}

export interface ReplacedId extends Replacement {
  readonly userId: string;
}

/** The replacements that are known of these ids, each given once, in one WABA: portfolios have ids of their own. */
export type FindReplacements = (
  wabaId: string,
  userIds: readonly string[],
) => Promise<ReadonlyMap<string, Replacement>>;

/** Takes the user ids that the platform has replaced, which may come twice and late. Throws when they must come again. */
export type NoteReplacedIds = (wabaId: string, replaced: readonly ReplacedId[]) => Promise<void>;
