import { inject } from 'vitest';
import { acceptanceIds } from '../acceptance/ids.ts';

/* Contract tests use the demo data of the local stack (infra/local/demo/provisioning.json), or the same data under ids
   of the acceptance run on a deployed stage (test/acceptance). Tests for both use these names. */

const demoIds = {
  clients: { operator: 1, andes: 1001, boreal: 1002 },
  wabas: { shared: '200000000000001', boreal: '200000000000002' },
  dids: { andes: '5491100000001', boreal: '5491100000002', saoPaulo: '5511900000003' },
  channels: { andes: 501, boreal: 502, saoPaulo: 503 },
  campaigns: { onboarding: 10, collections: 11, reminders: 20 },
} as const;

/** The tests run against a deployed stage: it has no simulator, tests may send nothing, and other clients use it. */
export const onDeployedStage = inject('acceptance') !== undefined;

export const { clients, wabas, dids, channels, campaigns } = onDeployedStage ? acceptanceIds : demoIds;
