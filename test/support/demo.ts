import { inject } from 'vitest';
import { acceptanceIds } from '../acceptance/ids.ts';

/*
 * Who and what the contract tests work with: the demo data of the local stack (infra/local/demo/provisioning.json), or on a
 * deployed stage the same under ids of their own (test/acceptance). Tests that run there too name them by these.
 */

const demoIds = {
  clients: { operator: 1, andes: 1001, boreal: 1002 },
  wabas: { shared: '200000000000001', boreal: '200000000000002' },
  dids: { andes: '5491100000001', boreal: '5491100000002', saoPaulo: '5511900000003' },
  channels: { andes: 501, boreal: 502, saoPaulo: 503 },
  campaigns: { onboarding: 10, collections: 11, reminders: 20 },
} as const;

/** Whether the tests run against a deployed stage: there is no simulator, nothing may be sent, and other clients are there. */
export const onDeployedStage = inject('acceptance') !== undefined;

export const { clients, wabas, dids, channels, campaigns } = onDeployedStage ? acceptanceIds : demoIds;
