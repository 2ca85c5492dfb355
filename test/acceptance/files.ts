/**
 * The contract tests that run against a deployed stage: they need neither the simulator nor what functions log, send
 * nothing, and leave every other client alone. Why the others do not is in test/README.md.
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
