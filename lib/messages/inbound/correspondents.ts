import type { PersonName } from '../../opt-outs/person-name.ts';

/*
 * Who has written to whom from a number that several clients share (D55): what a person says without naming a message concerns the
 * clients that wrote to it in 30 days. Acceptance notes each job before it is queued; on the number of one client nothing is noted.
 *
 * An item is of one job and one group of people, and packs the first eight bytes of their names. A job of more than 16 recipients
 * parts them by the first four bits of their names; in a smaller one each person is a group, so that small requests add nothing to
 * what is read for somebody else. A reader asks for two groups: the person's own and the one that has its four bits. More groups
 * would be read faster and written for more: a job of a hundred would pay for 64 items.
 */

/** Among a billion people two have the same bytes with a chance of three in a hundred. */
export const shortNameBytes = 8;

/** As many items as a job has at most. */
export const mostGroups = 16;

/** For so long after a client has written a word without context concerns it. */
export const concernedMs = 30 * 86_400_000;

/** Longer than that by what a word may be late: its webhook is repeated for a week, dead letters are kept for two. */
export const correspondentsMemorySeconds = (30 + 21) * 86_400;

export type ShortName = Uint8Array;

export function shortName(name: PersonName): ShortName {
  return Buffer.from(name, 'base64url').subarray(0, shortNameBytes);
}

function ownGroup(name: ShortName): string {
  return Buffer.from(name).toString('hex');
}

function sharedGroup(name: ShortName): string {
  return String(Math.floor((name[0] ?? 0) / (256 / mostGroups))).padStart(2, '0');
}

/** The groups in which a person may be found. */
export function groupsOf(name: ShortName): string[] {
  return [ownGroup(name), sharedGroup(name)];
}

/** The people of one job by group, packed: each once. */
export function groupsOfJob(names: readonly PersonName[]): Map<string, Uint8Array> {
  const people = [...new Set(names)].map(shortName);
  const groupOf = people.length > mostGroups ? sharedGroup : ownGroup;
  return new Map([...Map.groupBy(people, groupOf)].map(([group, some]) => [group, Buffer.concat(some)]));
}

/** Whether a person is among the packed ones. */
export function isAmong(packed: Uint8Array, name: ShortName): boolean {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  for (let at = bytes.indexOf(name); at !== -1; at = bytes.indexOf(name, at + 1)) {
    if (at % shortNameBytes === 0) return true;
  }
  return false;
}
