/**
 * Physical names. They are fixed by stage and purpose so that operator commands find everything from the stage alone,
 * without asking CloudFormation, and so that a person recognises a resource in the console.
 */
export function resourceName(stage: string, purpose: string): string {
  return `template-messaging-${stage}-${purpose}`;
}

/** What `resourceName` made the name of; the name as it is when it is of another stage. */
export function purposeOf(stage: string, name: string): string {
  const prefix = resourceName(stage, '');
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** Where a function writes its log: all groups of a stage begin alike. */
export function functionLogGroupName(stage: string, functionName: string): string {
  return `/template-messaging/${stage}/${functionName}`;
}

/** Below `/aws/vendedlogs/` AWS needs no resource policy for each log group (their total size is limited). */
export function accessLogGroupName(stage: string): string {
  return `/aws/vendedlogs/template-messaging/${stage}/api-access`;
}

/** At most 16 characters: the longest function name must stay within 64. */
export const stagePattern = /^[a-z][a-z0-9-]{0,15}$/;
export const stageDescription = '1 to 16 of a-z, 0-9 and -, a letter first';

export const queuePurposes = {
  sendJobs: 'send-jobs',
  dispatch: 'dispatch',
  urgent: 'urgent',
  watch: 'watch',
  sync: 'sync',
  events: 'events',
  receipts: 'receipts',
  hints: 'hints',
  inbound: 'inbound',
} as const;

/** The purpose of the queue that has the dead letters of another. */
export function deadLettersOf(purpose: string): string {
  return `${purpose}-dead`;
}

/** Secrets, by the environment variable under which a granted function finds the secret's name. */
export const secretPurposes = {
  TOKEN_SIGNING_KEYS_SECRET: 'token-signing-keys',
  TOKEN_VERIFICATION_KEYS_SECRET: 'token-verification-keys',
  PLATFORM_CREDENTIALS_SECRET: 'platform-credentials',
  PLATFORM_APPS_SECRET: 'platform-apps',
  WEBHOOK_SEALING_KEYS_SECRET: 'webhook-sealing-keys',
  PERSON_KEY_SECRET: 'person-key',
} as const;
