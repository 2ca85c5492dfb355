import { type NumberPace, unknownPace } from '../../lib/messages/pace/number-pace.ts';
import type { NumberPaces } from '../../lib/messages/pace/number-paces.ts';
import { fittingCodes, type UrgentTenths } from '../../lib/messages/pace/urgent.ts';

/** Paces of numbers in memory, for tests whose subject is not the store: one writer at a time, so nobody is ever late. */
export function memoryPaces(): NumberPaces & { readonly stored: Map<string, NumberPace> } {
  const stored = new Map<string, NumberPace>();
  const find = (phoneNumberId: string) => stored.get(phoneNumberId) ?? unknownPace;
  return {
    stored,
    find: async (phoneNumberId) => find(phoneNumberId),
    change: async (phoneNumberId, _seen, change) => {
      const current = find(phoneNumberId);
      const changed = change(current, 0);
      if (changed.pace === current) return changed;
      const pace = { ...changed.pace, version: current.version + 1 };
      stored.set(phoneNumberId, pace);
      return { pace, result: changed.result };
    },
  };
}

/** The last tenths of numbers in memory. */
export function memoryTenths(): UrgentTenths {
  const next = new Map<string, number>();
  return {
    take: async (phoneNumberId, { sizes, everyMs, nowMs, latestMs }) => {
      const firstMs = Math.max(nowMs, next.get(phoneNumberId) ?? 0);
      const fitting = fittingCodes(sizes, { everyMs, leftMs: latestMs - firstMs });
      if (fitting > 0) next.set(phoneNumberId, firstMs + fitting * everyMs);
      return Array.from({ length: fitting }, (_, at) => firstMs + at * everyMs);
    },
  };
}
