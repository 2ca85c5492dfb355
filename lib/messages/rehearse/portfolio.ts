import type { Did, Directory } from '../../access/directory.ts';
import type { ChannelStore } from '../../channels/channel-store.ts';
import { peopleADay } from '../../channels/messaging-limit.ts';
import type { Dispatches } from '../report/dispatches-store.ts';

export interface PortfolioPorts {
  readonly directory: Pick<Directory, 'listWabas'>;
  readonly channels: Pick<ChannelStore, 'findNumber' | 'numbersOf' | 'find'>;
  readonly dispatches: Pick<Dispatches, 'listAccepted'>;
  readonly nowMs: () => number;
}

/** A portfolio may write to `peopleADay` people in 24 hours; `soFar` is an upper bound for this client's. */
export interface Portfolio {
  readonly peopleADay: number;
  readonly soFar: number;
}

/** The platform counts a sliding day. */
const dayMs = 86_400_000;
/** This many dispatches stay far below a query's 1 MB. */
const dispatchesOfRead = 500;
/** Sequential reads take a few milliseconds each. */
const mostReads = 40;

/**
 * Returns the limit of the number's portfolio, if known and finite (platform reference, 4.4). `soFar` counts this
 * client's recipients of 24 hours on its numbers. Stops at the limit or after forty reads.
 */
export async function portfolioOf(
  { clientId, did: { waba, channel } }: { readonly clientId: number; readonly did: Did },
  ports: PortfolioPorts,
): Promise<Portfolio | undefined> {
  const number = await ports.channels.findNumber(waba.wabaId, channel.phoneNumberId);
  const limit = peopleADay(number?.currentLimit);
  if (number === undefined || limit === undefined) return undefined;
  let [soFar, reads] = [0, 0];
  for await (const people of peopleByRead({ clientId, wabaId: waba.wabaId, businessId: number.businessId }, ports)) {
    soFar += people;
    reads += 1;
    if (soFar >= limit || reads >= mostReads) break;
  }
  return { peopleADay: limit, soFar };
}

/** Yields recipients per read: none for a WABA's numbers; for a page of dispatches those sent from the portfolio. */
async function* peopleByRead(
  { clientId, wabaId, businessId }: { readonly clientId: number; readonly wabaId: string; readonly businessId: string },
  { directory, channels, dispatches, nowMs }: PortfolioPorts,
): AsyncGenerator<number> {
  const others = (await directory.listWabas(clientId)).map((waba) => waba.wabaId).filter((id) => id !== wabaId);
  const dids = new Set<string>();
  for (const id of [wabaId, ...others]) {
    const numbers = await channels.find(await channels.numbersOf(id));
    for (const each of numbers) if (each.wabaId === id && each.businessId === businessId) dids.add(each.waId);
    yield 0;
  }
  const question = { clientId, from: nowMs() - dayMs };
  let after: string | undefined;
  do {
    const page = await dispatches.listAccepted(question, { after, limit: dispatchesOfRead });
    yield page.accepted.filter(({ did }) => dids.has(did)).reduce((sum, { total }) => sum + total, 0);
    after = page.next;
  } while (after !== undefined);
}
