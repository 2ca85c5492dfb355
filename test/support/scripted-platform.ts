import { PlatformFailure } from '../../lib/platform/failure.ts';
import type { PlatformCall } from '../../lib/platform/transport.ts';

/** Answers or fails in this order, and records its calls; its clock moves only on command. */
export function scriptedPlatform(...replies: (Record<string, unknown> | PlatformFailure)[]) {
  const clock = { nowMs: 1_700_000_000_000 };
  const calls: PlatformCall[] = [];
  return {
    clock,
    calls,
    transport: async (call: PlatformCall) => {
      const reply = replies[calls.length];
      calls.push(call);
      if (reply instanceof PlatformFailure) throw reply;
      return { body: reply ?? {} };
    },
    credentialOf: async (name: string) => ({ accessToken: `token of ${name}`, appId: '1' }),
    nowMs: () => clock.nowMs,
  };
}
