/**
 * These contract tests run against a deployed stage: they need neither the simulator nor function logs, send nothing,
 * and leave other clients alone. test/README.md says why the others do not.
 */
export const acceptanceFiles = [
  'access',
  'channel-campaigns',
  'channels-list',
  'misspelt-queries',
  'operating-client',
  'pricing',
  'templates-get',
  'templates-list',
  'templates-status',
  'webhook-config',
].map((name) => `test/contract/${name}.test.ts`);
