/** AWS and its SDK give missing, wrong or expired credentials these names. */
const badCredentials = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'MissingAuthenticationTokenException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);

const notPermitted = new Set(['AccessDenied', 'AccessDeniedException', 'AuthorizationError']);
const notThere = new Set(['ResourceNotFoundException', 'QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue']);
const unreachable = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH']);

/** Tells whether AWS refused a call that the credentials do not allow. */
export const isNotAllowed = (error: unknown) => error instanceof Error && notPermitted.has(error.name);

/** Says in one sentence what an operator can do about a failed AWS call; undefined for any other error. */
export function failureSentence(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (message === 'Region is missing') return 'No AWS region is set: name one in AWS_REGION or in your AWS profile.';
  const words = message.split('\n')[0];
  if (badCredentials.has(name)) {
    return `The AWS credentials cannot be used (${words}): sign in again, or name a profile in AWS_PROFILE.`;
  }
  if (notPermitted.has(name)) return `The AWS credentials do not allow it: ${words}`;
  if (notThere.has(name)) {
    return `There is no such stage in this account and region (${words}): check --stage, AWS_PROFILE and AWS_REGION.`;
  }
  if (code !== undefined && unreachable.has(code)) return `The server cannot be reached (${words || code}).`;
  return undefined;
}
