import { deployedDirectory } from '../../access/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedPlatform } from '../../platform/deployed.ts';
import { deployedTemplates } from '../../templates/deployed/templates.ts';
import { platformTemplates } from '../../templates/model/platform-templates.ts';
import { deployedEvents } from '../../webhooks/deployed.ts';
import { breakerStore } from '../holds/breaker-store.ts';
import { holdStore } from '../holds/hold-store.ts';
import { platformCallTimeoutMs } from '../send/deadlines.ts';
import { type KeepReadingPorts, keepReading } from '../watch/keep-reading.ts';
import { messagesTable } from './messages-table.ts';
import { deployedReport } from './reports.ts';
import { deployedDispatchStates, deployedWatches } from './sending.ts';
import { deployedWatchedSpend } from './spend.ts';

export function deployedWatch() {
  const report = deployedReport();
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const table = messagesTable();
  const { nowMs } = table;
  const breakers = breakerStore(table);
  const queue = deployedWatches();
  const templates = deployedTemplates();
  const events = deployedEvents();
  const readings: KeepReadingPorts = { ...deployedDirectory(), templates, events };
  const parked = {
    queue,
    states: deployedDispatchStates(),
    holds: holdStore(table),
    isDown: async () => (await breakers.find()).open !== undefined,
    dispatchOf: (dispatchId: string) => report.findDescribed(dispatchId),
    templates,
    keepReading: keepReading(readings),
    platformTemplates: platformTemplates(call, credentialOf),
  };
  return {
    events,
    parked,
    spend: deployedWatchedSpend(),
    nowMs,
    log,
  };
}
