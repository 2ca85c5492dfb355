import { type Did, isShared } from '../../access/directory.ts';
import type { PersonName, Recipient } from '../../opt-outs/person-name.ts';
import type { OptOutPorts } from '../../opt-outs/record-word.ts';
import { concernedMs } from './correspondents.ts';
import type { FindCorrespondents } from './correspondents-store.ts';

export interface ConcernedPorts {
  readonly optOuts: OptOutPorts;
  readonly wroteTo: FindCorrespondents;
}

/** Whom a word concerns that names no message: at least one client, and of them the one that may read what was written. */
export interface Concerned {
  readonly clientIds: readonly number[];
  readonly readerId: number;
}

/**
 * The clients that wrote to the person from the number in the 30 days before that moment, or since; where none had written by then,
 * the number's own too (D55): who will write in weeks (D56) must not take the word from the one whom the person means. A
 * text is read by the one client that had written by then, else by the number's own. Who writes later reads nothing of it, so that a
 * repetition finds the same reader, and never a second one.
 */
export async function concernedBy(
  { channel, waba }: Did,
  said: { readonly recipients: readonly Recipient[]; readonly atMs: number },
  { optOuts, wroteTo }: ConcernedPorts,
): Promise<Concerned> {
  const own: Concerned = { clientIds: [channel.clientId], readerId: channel.clientId };
  if (!isShared(waba)) return own;
  const names = await namesOf(said.recipients, optOuts);
  const wrote = await wroteTo({ phoneNumberId: channel.phoneNumberId, names, sinceMs: said.atMs - concernedMs });
  if (wrote.size === 0) return own;
  const before = [...wrote].flatMap(([clientId, firstMs]) => (firstMs <= said.atMs ? [clientId] : []));
  const [only = channel.clientId] = before;
  const clientIds = before.length === 0 ? new Set([channel.clientId, ...wrote.keys()]) : wrote.keys();
  return {
    clientIds: [...clientIds].sort((one, other) => one - other),
    readerId: before.length === 1 ? only : channel.clientId,
  };
}

/** The names that the word spells, and those that are known to be the same person's. */
async function namesOf(recipients: readonly Recipient[], { nameOf, change }: OptOutPorts): Promise<PersonName[]> {
  const spelled = recipients.map(nameOf);
  const known = await Promise.all(
    spelled.map(async (name) => (await change(name, (person) => ({ state: person, result: undefined }))).state.names),
  );
  return [...new Set([...spelled, ...known.flat()])];
}
