/** What the infrastructure sets for a function: importing one reads it. Nothing here is connected to. */
Object.assign(process.env, {
  CREDENTIALS_TABLE: 'credentials',
  DIRECTORY_TABLE: 'directory',
  TEMPLATES_TABLE: 'templates',
  MESSAGES_TABLE: 'messages',
  EVENT_QUEUE_URL: 'http://127.0.0.1:1/events',
  SEND_JOB_QUEUE_URL: 'http://127.0.0.1:1/send-jobs',
  SYNC_QUEUE_URL: 'http://127.0.0.1:1/sync',
  SYNC_LOCK_SCOPE: 'deployment',
  WEBHOOKS_TABLE: 'webhooks',
  WEBHOOK_SEALING_KEYS_SECRET: 'webhook-sealing-keys',
  PLATFORM_CREDENTIALS_SECRET: 'platform-credentials',
  PLATFORM_BASE_URL: 'http://127.0.0.1:1',
  PLATFORM_VERSION: 'v26.0',
  AWS_REGION: 'us-east-1',
});
