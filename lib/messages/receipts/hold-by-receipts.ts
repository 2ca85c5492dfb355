import { errorName } from '../../observe/error-name.ts';
import { type DispatchHead, messageIdOf } from '../dispatch/head.ts';
import { type Slice, sliceOf, sliceSize } from '../dispatch/slice.ts';
import { opened } from '../holds/hold.ts';
import { type OpeningPorts, openHold } from '../holds/open-hold.ts';
import { type HoldScope, scopeOfDrop, scopeOfRefusal } from '../holds/scope.ts';
import type { Receipt } from './receipt.ts';
import type { ProvenSlices, ReceiptsOfDispatch } from './receipt-ports.ts';

interface HoldPorts extends OpeningPorts {
  readonly slices: ProvenSlices;
  readonly nowMs: () => number;
}

/** An older refusal proves nothing about now: the cause may be repaired. */
const newsMs = 60_000;

interface Refused {
  readonly head: DispatchHead;
  readonly receipt: Receipt & { readonly code: string };
}

/**
 * The platform may refuse a message after it took it, for account, number or template (131042 above all), or drop a
 * held one (135000): that opens a hold (D46). Never throws.
 */
export async function holdByReceipts(dispatches: readonly ReceiptsOfDispatch[], ports: HoldPorts): Promise<void> {
  const atMs = ports.nowMs();
  const news = dispatches.flatMap(({ head, receipts }) => receipts.flatMap((receipt) => newsOf(head, receipt, atMs)));
  const held = await heldOf(news, ports);
  const found = new Map<string, Parameters<typeof openHold>[0]>();
  for (const each of news) {
    const { wabaId } = each.head;
    const { code } = each.receipt;
    const scope =
      scopeOfRefusal(Number(code), each.head) ?? (held.has(messageIdOf(each.receipt)) ? dropScopeOf(each) : undefined);
    if (scope === undefined) continue;
    found.set(`${wabaId} ${scope}`, {
      wabaId,
      scope,
      atMs,
      rule: opened(scope, { code, nowMs: atMs, afterTaken: true }),
    });
  }
  for (const opening of found.values()) {
    await openHold(opening, ports).catch((error: unknown) => {
      ports.log('hold.not_changed', { wabaId: opening.wabaId, error: errorName(error) });
    });
  }
}

function newsOf(head: DispatchHead, { code, ...receipt }: Receipt, nowMs: number): Refused[] {
  const isNews = receipt.status === 'failed' && nowMs - receipt.atMs <= newsMs;
  return isNews && code !== undefined ? [{ head, receipt: { ...receipt, code } }] : [];
}

function dropScopeOf({ head, receipt }: Refused): HoldScope | undefined {
  return scopeOfDrop(Number(receipt.code), head);
}

/**
 * Returns messages that the platform had taken and held back. For others such a code blames the message itself. Reads
 * slices only for ambiguous codes.
 */
async function heldOf(news: readonly Refused[], { slices, log }: HoldPorts): Promise<ReadonlySet<string>> {
  const drops = news.filter((each) => dropScopeOf(each) !== undefined);
  const [first] = drops;
  if (first === undefined) return new Set();
  try {
    return new Set((await slices.findAll(drops.map(({ receipt }) => sliceOf(receipt)))).flatMap(heldIn));
  } catch (error) {
    log('hold.not_changed', { wabaId: first.head.wabaId, error: errorName(error) });
    return new Set();
  }
}

function heldIn({ key: { dispatchId, slice }, outcomes }: Slice): string[] {
  return outcomes.flatMap((outcome, place) => {
    const isHeld = outcome?.state === 'sent' && outcome.held !== undefined;
    return isHeld ? [messageIdOf({ dispatchId, index: slice * sliceSize + place })] : [];
  });
}
