import { nameOf } from '../../observe/name-of.ts';
import { opened } from '../holds/hold.ts';
import { type OpeningPorts, openHold } from '../holds/open-hold.ts';
import { scopeOfRefusal } from '../holds/scope.ts';
import type { ReceiptsOfJob } from './countable.ts';

interface HoldPorts extends OpeningPorts {
  readonly nowMs: () => number;
}

/** An older refusal says nothing of now: what held the account may be mended. */
const newsMs = 60_000;

/**
 * Opens what receipts tell of: the platform may take a message and refuse it afterwards for what concerns its account, its number
 * or its template (131042 above all, D46). Never throws: the next receipt, or the next refusal, does it.
 */
export async function holdByReceipts(jobs: readonly ReceiptsOfJob[], ports: HoldPorts): Promise<void> {
  const atMs = ports.nowMs();
  const found = new Map<string, Parameters<typeof openHold>[0]>();
  for (const { head, receipts } of jobs) {
    const { wabaId } = head;
    for (const { status, code, atMs: refusedMs } of receipts) {
      if (status !== 'failed' || atMs - refusedMs > newsMs) continue;
      const scope = scopeOfRefusal(Number(code), head);
      if (scope === undefined || code === undefined) continue;
      found.set(`${wabaId} ${scope}`, {
        wabaId,
        scope,
        atMs,
        rule: opened(scope, { code, nowMs: atMs, afterTaken: true }),
      });
    }
  }
  for (const opening of found.values()) {
    await openHold(opening, ports).catch((error: unknown) => {
      ports.log('hold.not_changed', { wabaId: opening.wabaId, error: nameOf(error) });
    });
  }
}
