import { deployedChannels } from '../../channels/deployed.ts';
import { log } from '../../observe/log.ts';
import { breakerStore } from '../holds/breaker-store.ts';
import { holdStore } from '../holds/hold-store.ts';
import { limitOfDispatch } from '../pace/limit-of-dispatch.ts';
import { backlogStore } from '../sender/backlog-store.ts';
import { senderStateStore } from '../sender/sender-state-store.ts';
import type { SweepPorts } from '../sender/sweep.ts';
import { messagesTable } from './messages-table.ts';
import { deployedSenderWakes } from './sending.ts';

export function deployedSweep(): SweepPorts {
  const table = messagesTable();
  const statesOf = senderStateStore(table);
  return {
    backlog: backlogStore(table),
    holds: holdStore(table),
    breakers: breakerStore(table),
    limitOf: limitOfDispatch({ channels: deployedChannels(), log }),
    stateOf: async (key) => (await statesOf(key).change(() => undefined)).state,
    wake: deployedSenderWakes(),
    nowMs: table.nowMs,
    log,
  };
}
