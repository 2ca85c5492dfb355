import { describe, expect, test } from 'vitest';
import { newEntry, undecidedMs } from '../../../../lib/messages/dispatch/backlog.ts';
import type { standingIn } from '../../../../lib/messages/dispatch/item.ts';
import { takeDispatch } from '../../../../lib/messages/sender/dispatch-taking.ts';
import type { SenderPorts } from '../../../../lib/messages/sender/sender-ports.ts';
import { scenarioHead } from '../../../support/scenario-dispatch.ts';

/** What a sender does with a dispatch that its acceptance has not begun (D25, D58). */

const entry = newEntry(scenarioHead);
const { clientId, dispatchId } = entry;

function world(standing: ReturnType<typeof standingIn>, afterMs = undecidedMs) {
  const done: unknown[] = [];
  const state = { withdrawal: 'withdrawn', releaseFails: false };
  const ports = {
    dispatches: {
      find: async () => ({ standing, state: {}, dispatch: undefined }),
      withdraw: async () => {
        done.push('withdraw');
        return state.withdrawal;
      },
    },
    budgets: {
      release: async (of: { readonly clientId: number; readonly dispatchId: string }) => {
        if (state.releaseFails) throw new Error('away');
        done.push(['release', of.clientId, of.dispatchId]);
      },
    },
    process: { nowMs: () => entry.enteredAtMs + afterMs, log: (event: string) => void done.push(event) },
  } as unknown as SenderPorts;
  return { done, state, take: () => takeDispatch(entry, { part: 0, of: 1 }, ports) };
}

describe('what has not begun', () => {
  test('is left to its acceptance for a minute', async () => {
    const { take, done } = world('open', undecidedMs - 1);
    expect([await take(), done]).toEqual(['undecided', []]);
  });

  test('is withdrawn then, logged, and keeps nothing reserved', async () => {
    const { take, done } = world('open');
    expect(await take()).toBe('over');
    expect(done).toEqual(['withdraw', ['release', clientId, dispatchId], 'dispatch.withdrawn']);
  });

  test('keeps nothing reserved either where its acceptance has withdrawn it, at once', async () => {
    const { take, done } = world('withdrawn', 0);
    expect(await take()).toBe('over');
    expect(done).toEqual(['withdraw', ['release', clientId, dispatchId]]);
  });

  test('keeps its entry while it cannot be freed, and its reservation where it begins after all', async () => {
    const { take, state } = world('open');
    state.releaseFails = true;
    await expect(take()).rejects.toThrow('away');
    const late = world('open');
    late.state.withdrawal = 'begun';
    await late.take();
    expect(late.done).toEqual(['withdraw']);
  });
});
