import type { PersonName } from '../../opt-outs/person-name.ts';

// Where clients share a number, an update without a message concerns those that wrote to the person within 30 days
// (D55). Acceptance notes each dispatch before it queues.

// An item holds one dispatch's people of one group, as eight bytes of each name. A dispatch of more than 16 recipients
// groups by four bits of the name; in a smaller one each person is a group.

// A reader asks for both groups of a person. More groups would cost more writes: 64 items for a dispatch of a hundred.

/** Among a billion people two share these bytes with a chance of three in a hundred. */
export const shortNameBytes = 8;

export const mostGroups = 16;

/** After a message, an update without context concerns its client for this long. */
export const concernedMs = 30 * 86_400_000;

/**
 * The memory is longer by the possible delay of an update: webhooks are repeated for a week, dead letters are kept for
 * two.
 */
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

export function groupsOf(name: ShortName): string[] {
  return [ownGroup(name), sharedGroup(name)];
}

export function groupsOfDispatch(names: readonly PersonName[]): Map<string, Uint8Array> {
  const people = [...new Set(names)].map(shortName);
  const groupOf = people.length > mostGroups ? sharedGroup : ownGroup;
  return new Map([...Map.groupBy(people, groupOf)].map(([group, some]) => [group, Buffer.concat(some)]));
}

export function isAmong(packed: Uint8Array, name: ShortName): boolean {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  for (let at = bytes.indexOf(name); at !== -1; at = bytes.indexOf(name, at + 1)) {
    if (at % shortNameBytes === 0) return true;
  }
  return false;
}
