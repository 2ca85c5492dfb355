/** Here alone refusals get their status. Codes are part of the interface (D1): renaming one is a breaking change. */
const statusOfCode = {
  malformed_body: 400,
  invalid_request: 400,
  client_id_required: 400,
  invalid_client_id: 400,
  agent_without_campaigns: 400,
  invalid_recipients: 400,
  platform_refused: 400,
  invalid_credentials: 401,
  unauthorized: 401,
  cross_client_forbidden: 403,
  verification_refused: 403,
  edge_required: 403,
  did_forbidden: 403,
  catalog_forbidden: 403,
  campaign_forbidden: 403,
  template_not_found: 404,
  dispatch_not_found: 404,
  redirect_not_found: 404,
  rate_not_found: 404,
  webhook_config_not_found: 404,
  template_disabled: 409,
  sync_in_progress: 409,
  request_in_progress: 409,
  opted_out_by_person: 409,
  not_retryable: 409,
  nothing_to_retry: 409,
  payload_too_large: 413,
  did_mismatch: 422,
  template_not_sendable: 422,
  idempotency_key_reused: 422,
  over_max_cost: 422,
  over_budget: 422,
  platform_rate_limited: 429,
  too_many_requests: 429,
  internal_error: 500,
  platform_unreachable: 502,
  dispatch_unavailable: 502,
  dispatch_undecided: 502,
  webhook_not_taken: 503,
} as const;

export type RefusalCode = keyof typeof statusOfCode;
export const refusalCodes = Object.keys(statusOfCode) as readonly RefusalCode[];

/** `path` is a dot path with array indexes in brackets; `message` says what was expected and received. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

export interface RefusalDetails {
  readonly errors?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The code is passed on as `platform_code` (D7). */
  readonly platformCode?: number;
  /** The refused cost is in dollars (D58). */
  readonly estimate?: { readonly amount: number; readonly currency: string };
  /** Other retries have the recipients: these dispatches (D57). */
  readonly retriedBy?: readonly string[];
  readonly cause?: unknown;
}

/** `answerRefusals` in endpoint.ts turns a refusal into an answer, in one place. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: RefusalDetails;

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return statusOf(this.code);
  }

  /**
   * Tells whether the platform failed. A request that merely ran late has no cause, and counts as this service's
   * failure.
   */
  get isOfPlatform(): boolean {
    return this.code === 'platform_unreachable' && this.details.cause !== undefined;
  }
}

export function statusOf(code: RefusalCode): number {
  return statusOfCode[code];
}

/** Refuses with one 400 that lists the faults, if any. The default message is the first fault's. */
export function refuseFaults(errors: readonly Fault[], message = errors[0]?.message): void {
  if (message !== undefined && errors.length > 0) throw new Refusal('invalid_request', message, { errors });
}

/** Returns a 400 for one field: the message alone is the contract's text, and the path names the place. */
export function invalid(path: string, message: string): Refusal {
  return new Refusal('invalid_request', message, { errors: [{ path, message }] });
}
