/**
 * Fixed names let operator commands find resources without CloudFormation, and people recognise them in the console.
 */
export function resourceName(stage: string, purpose: string): string {
  return `template-messaging-${stage}-${purpose}`;
}

/** Returns the purpose inside a name of `resourceName`; the whole name when it is of another stage. */
export function purposeOf(stage: string, name: string): string {
  const prefix = resourceName(stage, '');
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

export function functionLogGroupName(stage: string, functionName: string): string {
  return `/template-messaging/${stage}/${functionName}`;
}

/** Below `/aws/vendedlogs/` AWS needs no resource policy for each log group; their total size is limited. */
export function accessLogGroupName(stage: string): string {
  return `/aws/vendedlogs/template-messaging/${stage}/api-access`;
}

/** The limit of 16 characters keeps the longest function name within Lambda's 64. */
export const stagePattern = /^[a-z][a-z0-9-]{0,15}$/;
export const stageDescription = '1 to 16 of a-z, 0-9 and -, a letter first';

export const queuePurposes = {
  dispatch: 'dispatch',
  urgent: 'urgent',
  counts: 'counts',
  sync: 'sync',
  events: 'events',
  receipts: 'receipts',
  hints: 'hints',
  inbound: 'inbound',
} as const;

export function deadLettersOf(purpose: string): string {
  return `${purpose}-dead`;
}

/** The keys are the environment variables in which a granted function finds the secret's name. */
export const secretPurposes = {
  TOKEN_SIGNING_KEYS_SECRET: 'token-signing-keys',
  TOKEN_VERIFICATION_KEYS_SECRET: 'token-verification-keys',
  PLATFORM_CREDENTIALS_SECRET: 'platform-credentials',
  PLATFORM_APPS_SECRET: 'platform-apps',
  WEBHOOK_SEALING_KEYS_SECRET: 'webhook-sealing-keys',
  PERSON_KEY_SECRET: 'person-key',
} as const;
