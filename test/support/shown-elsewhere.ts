/**
 * No request to the contract tests' stack can cause these documented answers; the named test shows each. A whole run of
 * the contract tests must see all others (D48).
 */
export const shownElsewhere: readonly { readonly answer: RegExp; readonly code: string; readonly by: string }[] = [
  // Only deployments with an edge have this answer.
  { answer: /^\S+ 403 edge_required$/, code: 'edge_required', by: 'test/infra/edge-over-http.test.ts' },
  // The frame of all pages answers unexpected errors and late endpoints.
  { answer: /^\S+ 500 internal_error$/, code: 'internal_error', by: 'test/lib/http/endpoint.test.ts' },
  { answer: /^\S+ 502 platform_unreachable$/, code: 'platform_unreachable', by: 'test/lib/http/endpoint.test.ts' },
  // The acceptance of a retry is the acceptance of a send.
  ...(
    [
      ['502 dispatch_unavailable', 'test/lib/messages/accept/accept-dispatch.test.ts'],
      ['502 dispatch_undecided', 'test/lib/messages/retry/retry-keys.adapter.test.ts'],
      ['409 request_in_progress', 'test/lib/messages/retry/retry-keys.adapter.test.ts'],
      ['422 template_not_sendable', 'test/lib/messages/retry/retry-keys.adapter.test.ts'],
      ['400 platform_refused', 'test/lib/platform/refusals.test.ts'],
      ['404 template_not_found', 'test/lib/messages/resolve/resolve-template.test.ts'],
      ['429 platform_rate_limited', 'test/lib/messages/resolve/resolve-template.test.ts'],
    ] as const
  ).map(([answer, by]) => ({ answer: new RegExp(`^messages-retry ${answer}$`), code: answer.slice(4), by })),
  // The clients of this stack have no budgets; other tests provision one, for a send (contract/budgets).
  {
    answer: /^messages-retry 422 over_budget$/,
    code: 'over_budget',
    by: 'test/lib/messages/budget/cost-limits.test.ts',
  },
  // The list of a catalog's products is read in the same way (contract/catalog-products).
  ...(['400 platform_refused', '429 platform_rate_limited'] as const).map((answer) => ({
    answer: new RegExp(`^catalogs-list ${answer}$`),
    code: answer.slice(4),
    by: 'test/lib/platform/refusals.test.ts',
  })),
  // A queue or a table fails at the last step.
  {
    answer: /^messages-send 502 dispatch_unavailable$/,
    code: 'dispatch_unavailable',
    by: 'test/functions/messages-send.adapter.test.ts',
  },
  {
    answer: /^templates-sync 502 dispatch_unavailable$/,
    code: 'dispatch_unavailable',
    by: 'test/functions/templates-sync.adapter.test.ts',
  },
  {
    answer: /^messages-send 502 dispatch_undecided$/,
    code: 'dispatch_undecided',
    by: 'test/lib/messages/accept/idempotency.adapter.test.ts',
  },
  {
    answer: /^platform-webhook-receive 503 webhook_not_taken$/,
    code: 'webhook_not_taken',
    by: 'test/functions/platform-webhook.queue.test.ts',
  },
  // Lambda's limit for an event is below this limit, so the gateway refuses first.
  { answer: /^messages-send 413 payload_too_large$/, code: 'payload_too_large', by: 'test/lib/http/endpoint.test.ts' },
];
