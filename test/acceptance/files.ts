/**
 * The contract tests that run against a deployed stage: they need neither the simulator nor what functions log, send
 * nothing, and leave every other client alone.
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

/** Every other contract test, by the reason why it does not run there. */
export const leftOut: Readonly<Record<string, readonly string[]>> = {
  'messages are sent': [
    'answers',
    'audit',
    'budgets',
    'catalog-products',
    'console-dispatches',
    'console-people',
    'correlation',
    'demo',
    'dispatch-outcomes',
    'documented-examples',
    'end-to-end',
    'erase',
    'event-delivery',
    'examples',
    'generated-clients',
    'held-jobs',
    'messages-rehearse',
    'messages-report',
    'messages-retry',
    'messages-send',
    'readme-tour',
    'receipts',
    'tenancy',
    'user-ids',
    'worker-kill',
  ],
  'templates are read, made or changed at the platform': [
    'orphaned-assignments',
    'redirects',
    'sync',
    'template-life-cycle',
    'templates-create',
    'templates-create-media',
    'templates-delete',
    'templates-edit',
  ],
  'posts that no app has signed ring an alarm': ['platform-hints', 'platform-webhook', 'hostile-bodies'],
  'the origins are those that the local stack allows': ['cors'],
  'they read what functions log, or receive on this machine': ['logs', 'webhooks-listen'],
  "they provision, or sign with the stage's own key": [
    'campaign-views',
    'client-budget',
    'provisioning',
    'taken-dids',
    'tokens',
  ],
  'what is said of people has no time to live': ['opt-outs'],
  'they run the commands themselves': ['acceptance', 'doctor', 'smoke', 'template-types'],
};
