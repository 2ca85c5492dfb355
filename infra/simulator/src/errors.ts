import errorCodes from './data/error-codes.json' with { type: 'json' };

/** The platform refuses in its own words. The reply adds its own `fbtrace_id`. */
export class PlatformError extends Error {
  readonly httpStatus: number;
  readonly error: Readonly<Record<string, unknown>>;

  constructor(httpStatus: number, error: { readonly message: string; readonly [key: string]: unknown }) {
    super(error.message);
    this.name = 'PlatformError';
    this.httpStatus = httpStatus;
    this.error = error;
  }
}

interface CodeEntry {
  readonly code: number | string;
  readonly title: string;
  readonly status: number;
  readonly kind: string;
  readonly subcode?: number;
}

const entries: readonly CodeEntry[] = errorCodes;
const byCode = new Map(entries.filter((entry) => entry.kind !== 'template_mgmt').map((entry) => [entry.code, entry]));
const bySubcode = new Map(
  entries.filter((entry) => entry.subcode !== undefined).map((entry) => [entry.subcode, entry]),
);

/** These refusals have texts that differ from the title in the list of codes. */
const wireTexts = new Map<number, string>([
  [132000, 'Number of parameters does not match the expected number of params'],
  [132001, 'Template name does not exist in the translation'],
  [132005, 'Translated text too long'],
  [132012, 'Parameter format does not match format in the created template'],
]);

/** These titles in a webhook differ from the list of codes. */
const toldTitles = new Map<number, string>([
  [
    131050,
    'Unable to deliver the message. This recipient has chosen to stop receiving marketing messages on WhatsApp from your business',
  ],
]);

export function isKnownCode(code: number): boolean {
  return entryOf(code) !== undefined;
}

export function isKnownSubcode(subcode: number): boolean {
  return bySubcode.has(subcode);
}

export function errorTitle(code: number): string {
  return toldTitles.get(code) ?? entryOf(code)?.title ?? 'Unknown error';
}

function entryOf(code: number): CodeEntry | undefined {
  return byCode.get(code) ?? (code >= 200 && code <= 299 ? byCode.get('200-299') : undefined);
}

function httpStatusOf(code: number): number {
  return entryOf(code)?.status ?? 400;
}

/** Builds the refusal of a message: the reason is in `error_data.details` (platform reference, 6.1). */
export function messagingError(code: number, details?: string): PlatformError {
  const text = wireTexts.get(code) ?? entryOf(code)?.title ?? 'Unknown error';
  return new PlatformError(httpStatusOf(code), {
    message: `(#${code}) ${text}`,
    type: 'OAuthException',
    code,
    error_data: { messaging_product: 'whatsapp', details: details ?? text },
  });
}

/** Builds a refusal of the graph: tokens, rights, nodes, parameters. */
export function graphError(
  code: number,
  message: string,
  more: { readonly subcode?: number; readonly type?: string; readonly transient?: boolean } = {},
): PlatformError {
  return new PlatformError(httpStatusOf(code), {
    message,
    type: more.type ?? 'OAuthException',
    code,
    error_subcode: more.subcode,
    is_transient: more.transient,
  });
}

/** Builds template management's refusal with code 100, a subcode, and texts for people (6.1, 6.3). */
export function managementError(subcode: number, userMessage?: string): PlatformError {
  const title = bySubcode.get(subcode)?.title ?? 'Invalid parameter';
  return managementRefusal({ error_subcode: subcode }, title, userMessage ?? title);
}

/** Builds template management's refusal without a subcode: only the texts name the reason (6.3, below the table). */
export function unnumberedManagementError(title: string, userMessage: string): PlatformError {
  return managementRefusal({}, title, userMessage);
}

function managementRefusal(
  number: { readonly error_subcode?: number },
  title: string,
  userMessage: string,
): PlatformError {
  return new PlatformError(400, {
    message: 'Invalid parameter',
    type: 'OAuthException',
    code: 100,
    ...number,
    is_transient: false,
    error_user_title: title,
    error_user_msg: userMessage,
  });
}

export function unknownNode(method: string, id: string): PlatformError {
  return graphError(
    100,
    `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation`,
    { subcode: 33, type: 'GraphMethodException' },
  );
}

export const acceptedTypesText = 'The simulator takes templates and text';

/** Builds the refusal of a call that is not simulated. Some client libraries show only the details. */
export function notSimulated(id: string, operation: string): PlatformError {
  const [method = ''] = operation.split(' ');
  const details = `${acceptedTypesText}; '${operation}' of ${id} is not simulated.`;
  return new PlatformError(400, {
    message: `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not support this operation. ${details}`,
    type: 'GraphMethodException',
    code: 100,
    error_subcode: 33,
    error_data: { messaging_product: 'whatsapp', details },
  });
}

/** Builds the error from a bare code, for faults and magic recipients. */
export function errorOfCode(code: number, onMessages: boolean): PlatformError {
  const entry = entryOf(code);
  if (entry === undefined) return graphError(code, `(#${code}) Unknown error`);
  const plain = entry.kind === 'auth' || [1, 2, 4, 80007, 80008].includes(code) || !onMessages;
  if (!plain) return messagingError(code);
  const transient = entry.status >= 500 || entry.kind === 'throttle' || code === 1;
  return graphError(code, `(#${code}) ${entry.title}`, entry.kind === 'auth' ? {} : { transient });
}
