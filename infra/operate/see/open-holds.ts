import type { Table } from '../../../lib/aws/table.ts';
import { closed } from '../../../lib/messages/holds/breaker.ts';
import { breakerStore } from '../../../lib/messages/holds/breaker-store.ts';
import { type Hold, noAnswerCode } from '../../../lib/messages/holds/hold.ts';
import { ended } from '../../../lib/messages/holds/hold-ends.ts';
import { holdStore } from '../../../lib/messages/holds/hold-store.ts';
import type { HoldScope } from '../../../lib/messages/holds/scope.ts';
import { type HoldKind, holdKinds } from '../../../lib/platform/failure.ts';

export interface HoldOfWaba extends Hold {
  readonly scope: HoldScope;
  readonly wabaId: string;
}

/** The hold is on the whole platform, which does not answer. */
export interface HoldOfPlatform extends Hold {
  readonly scope: 'platform';
}

export type OpenHold = HoldOfPlatform | HoldOfWaba;

/** Both methods throw when the store cannot be reached. */
export interface OpenHolds {
  /** Returns the holds of these WABAs and of the platform; the widest of each WABA comes first. */
  list(wabaIds: readonly string[]): Promise<OpenHold[]>;
  /** Ends this hold, no later one, without asking the platform. Returns false when other writers always won. */
  end(hold: OpenHold): Promise<boolean>;
}

const readAtATime = 25;

export function openHolds(stored: Pick<Table, 'client' | 'name' | 'nowMs'>): OpenHolds {
  const wabas = holdStore(stored);
  const breakers = breakerStore(stored);

  return {
    list: async (wabaIds) => {
      const { open } = await breakers.find();
      const found: OpenHold[] =
        open === undefined
          ? []
          : [
              {
                ...{ scope: 'platform', code: noAnswerCode, sinceMs: open.sinceMs },
                ...{ nextAskMs: open.probeAtMs, asks: open.failedProbes },
              },
            ];
      for (let at = 0; at < wabaIds.length; at += readAtATime) {
        const some = await Promise.all(wabaIds.slice(at, at + readAtATime).map(ofWaba));
        found.push(...some.flat());
      }
      return found;
    },

    end: async (hold) => {
      const { scope, sinceMs } = hold;
      if (scope !== 'platform')
        return (await wabas.change(hold.wabaId, ended(scope, sinceMs, stored.nowMs()))) !== undefined;
      let isOver = false;
      const written = await breakers.change(await breakers.find(), (breaker) => {
        isOver = breaker.open?.sinceMs !== sinceMs;
        return isOver ? undefined : closed(breaker);
      });
      return isOver || written !== undefined;
    },
  };

  async function ofWaba(wabaId: string): Promise<HoldOfWaba[]> {
    const { holds } = await wabas.find(wabaId);
    const open = Object.entries(holds) as [HoldScope, Hold][];
    return open
      .map(([scope, hold]) => ({ ...hold, scope, wabaId }))
      .sort((one, other) => rankOf(one.scope) - rankOf(other.scope) || one.sinceMs - other.sinceMs);
  }
}

function rankOf(scope: HoldScope): number {
  // The kinds are ordered by width.
  return holdKinds.indexOf(kindAndName(scope).kind);
}

/** Splits a scope into two parts: `number` and its id, `template` and its name with language; `waba` has only one. */
export function kindAndName(scope: HoldScope): { readonly kind: HoldKind; readonly name: string } {
  const [kind, ...name] = scope.split(':');
  return { kind: kind as HoldKind, name: name.join(':') };
}
