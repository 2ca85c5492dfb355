import { type Did, isShared } from '../../access/directory.ts';
import type { PersonName, Recipient } from '../../opt-outs/person-name.ts';
import type { OptOutPorts } from '../../opt-outs/record-opt-out.ts';
import { concernedMs } from './correspondents.ts';
import type { FindCorrespondents } from './correspondents-store.ts';

export interface ConcernedPorts {
  readonly optOuts: OptOutPorts;
  readonly wroteTo: FindCorrespondents;
}

/** An update without a message concerns these clients (at least one); one may read its text. */
export interface ConcernedClients {
  readonly clientIds: readonly number[];
  readonly readerId: number;
}

/**
 * Returns the clients that wrote to the person in the 30 days before or since; if none had written by then, the
 * number's owner too (D55).
 */
export async function concernedClients(
  { channel, waba }: Did,
  update: { readonly recipients: readonly Recipient[]; readonly atMs: number },
  { optOuts, wroteTo }: ConcernedPorts,
): Promise<ConcernedClients> {
  const own: ConcernedClients = { clientIds: [channel.clientId], readerId: channel.clientId };
  if (!isShared(waba)) return own;
  const names = await namesOf(update.recipients, optOuts);
  const wrote = await wroteTo({ phoneNumberId: channel.phoneNumberId, names, sinceMs: update.atMs - concernedMs });
  if (wrote.size === 0) return own;
  // Only a single client that had written by then reads the text, else the number's owner. Later writers are excluded
  // (D56), so that a repetition finds the same reader.
  const before = [...wrote].flatMap(([clientId, firstMs]) => (firstMs <= update.atMs ? [clientId] : []));
  const [only = channel.clientId] = before;
  const clientIds = before.length === 0 ? new Set([channel.clientId, ...wrote.keys()]) : wrote.keys();
  return {
    clientIds: [...clientIds].sort((one, other) => one - other),
    readerId: before.length === 1 ? only : channel.clientId,
  };
}

async function namesOf(recipients: readonly Recipient[], { nameOf, change }: OptOutPorts): Promise<PersonName[]> {
  const spelled = recipients.map(nameOf);
  const known = await Promise.all(
    spelled.map(async (name) => (await change(name, (person) => ({ state: person, result: undefined }))).state.names),
  );
  return [...new Set([...spelled, ...known.flat()])];
}
