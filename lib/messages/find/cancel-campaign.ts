import { forEachConcurrently } from '../../aws/concurrently.ts';
import { cancelOpenDispatch, type StopPorts } from '../report/cancel.ts';
import type { Dispatches } from '../report/dispatches-store.ts';

export interface CancelCampaignPorts extends StopPorts {
  readonly dispatches: Pick<Dispatches, 'readAccepted' | 'settle'>;
}

export interface CancelledOfCampaign {
  readonly cancelled: number;
  /** Some dispatches are left, so the client repeats the request. */
  readonly more: boolean;
}

/** No dispatch is begun later: it takes some seconds, and the gateway waits thirty. */
const beginForMs = 15_000;
const atOnce = 8;
const dispatchesOfRead = 100;

/**
 * Cancels a campaign's open dispatches, newest first, scheduled ones too (D53). Checked ones are marked settled, so
 * that repetition comes to an end.
 */
export async function cancelCampaign(
  ports: CancelCampaignPorts,
  { clientId, campaignId }: { readonly clientId: number; readonly campaignId: number },
): Promise<CancelledOfCampaign> {
  const endMs = ports.nowMs() + beginForMs;
  const question = { clientId, campaign_id: campaignId, unsettled: true } as const;
  let cancelled = 0;
  let after: string | undefined;
  do {
    const page = await ports.dispatches.readAccepted(question, { after, limit: dispatchesOfRead });
    let left = page.accepted.length;
    await forEachConcurrently(page.accepted, atOnce, async (pointer) => {
      if (ports.nowMs() >= endMs) return;
      const stopped = await cancelOpenDispatch(ports, pointer.dispatchId);
      if (stopped) cancelled += 1;
      // A missing dispatch is undecided: a small request is listed before it begins.
      if (stopped !== undefined) await ports.dispatches.settle(clientId, pointer);
      left -= 1;
    });
    after = page.next;
    if (left > 0 || (after !== undefined && ports.nowMs() >= endMs)) return { cancelled, more: true };
  } while (after !== undefined);
  return { cancelled, more: false };
}
