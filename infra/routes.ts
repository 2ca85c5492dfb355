import type { Settings } from './settings.ts';

/**
 * A route is synthesized once its function exists as `functions/<operation>.ts`; all routes are listed so that
 * precedence can be checked.
 */
export interface RouteEntry {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly operation: string;
  /** A public route needs no token; every other route has the authorizer. */
  readonly public?: true;
  /** All callers together have this limit; a route without one shares the stage's. */
  readonly throttle?: { readonly ratePerSecond: number; readonly burst: number };
}

/** The limit holds for one route, or for all routes without their own. */
export interface RequestLimit {
  readonly what: string;
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** Returns a route's own limit; undefined when it shares the stage's. */
export function throttleOf(
  { operation, throttle }: RouteEntry,
  { loginRatePerSecond, loginBurst }: Pick<Settings, 'loginRatePerSecond' | 'loginBurst'>,
): RouteEntry['throttle'] {
  // This limits the cost of a flood; login itself slows guessing, by user and address (R38).
  return operation === 'login' ? { ratePerSecond: loginRatePerSecond, burst: loginBurst } : throttle;
}

/** Returns all limits of the gateway's stage, which share one quota of the account. */
export function requestLimits(settings: Settings): readonly RequestLimit[] {
  const own = routes.flatMap((route) => {
    const throttle = throttleOf(route, settings);
    return throttle === undefined ? [] : [{ what: `${route.method} ${route.path}`, ...throttle }];
  });
  return [{ what: 'clients', ratePerSecond: settings.stageRatePerSecond, burst: settings.stageBurst }, ...own];
}

export const routes: readonly RouteEntry[] = [
  {
    method: 'GET',
    path: '/health',
    operation: 'health',
    public: true,
    // Health checks have a limit of their own, so strangers take nothing from clients. Monitors ask every few seconds.
    throttle: { ratePerSecond: 100, burst: 200 },
  },
  { method: 'POST', path: '/login', operation: 'login', public: true },
  {
    method: 'GET',
    path: '/r/{code}',
    operation: 'redirect',
    public: true,
    // Recipients of a campaign and clients must not take each other's share.
    throttle: { ratePerSecond: 500, burst: 1_000 },
  },
  {
    method: 'GET',
    path: '/platform/webhook',
    operation: 'platform-webhook-verify',
    public: true,
    // Only a person who sets up the webhook address calls this.
    throttle: { ratePerSecond: 5, burst: 10 },
  },
  {
    method: 'POST',
    path: '/platform/webhook',
    operation: 'platform-webhook-receive',
    public: true,
    // Three statuses a message, each perhaps in its own request, must not take the clients' share.
    throttle: { ratePerSecond: 1_000, burst: 2_000 },
  },
  { method: 'POST', path: '/v1/template/messages/{did}', operation: 'messages-send' },
  { method: 'GET', path: '/v1/template/messages/{did}', operation: 'dispatches-list' },
  { method: 'GET', path: '/v1/template/messages/{did}/{dispatchId}', operation: 'messages-report' },
  { method: 'DELETE', path: '/v1/template/messages/{did}/{dispatchId}', operation: 'messages-cancel' },
  { method: 'POST', path: '/v1/template/messages/{did}/{dispatchId}/retry', operation: 'messages-retry' },
  { method: 'GET', path: '/v1/dispatches', operation: 'dispatches-find' },
  { method: 'DELETE', path: '/v1/dispatches', operation: 'dispatches-cancel' },
  { method: 'GET', path: '/v1/templates', operation: 'templates-list' },
  { method: 'GET', path: '/v1/templates/{messageTemplateId}', operation: 'templates-get' },
  { method: 'PATCH', path: '/v1/templates/status', operation: 'templates-status' },
  { method: 'POST', path: '/v1/templates/sync-from-platform', operation: 'templates-sync' },
  { method: 'POST', path: '/v1/templates/{did}', operation: 'templates-create' },
  { method: 'PUT', path: '/v1/templates/{did}/{messageTemplateId}', operation: 'templates-edit' },
  { method: 'DELETE', path: '/v1/templates/{did}/{messageTemplateId}', operation: 'templates-delete' },
  {
    method: 'GET',
    path: '/v1/templates/{messageTemplateId}/channel-campaigns-grouped',
    operation: 'channel-campaigns-grouped',
  },
  { method: 'POST', path: '/v1/templates/{messageTemplateId}/channel-campaigns', operation: 'channel-campaigns-add' },
  {
    method: 'PUT',
    path: '/v1/templates/{messageTemplateId}/channel-campaigns',
    operation: 'channel-campaigns-replace',
  },
  {
    method: 'DELETE',
    path: '/v1/templates/{messageTemplateId}/channel-campaigns',
    operation: 'channel-campaigns-remove',
  },
  { method: 'GET', path: '/v1/me', operation: 'me' },
  { method: 'GET', path: '/v1/clients', operation: 'clients-list' },
  { method: 'GET', path: '/v1/campaigns', operation: 'campaigns-list' },
  { method: 'GET', path: '/v1/client-messaging-channels', operation: 'channels-list' },
  { method: 'GET', path: '/v1/catalogs/{did}', operation: 'catalogs-list' },
  { method: 'GET', path: '/v1/catalogs/{did}/products', operation: 'catalog-products-list' },
  { method: 'GET', path: '/v1/pricing', operation: 'pricing-get' },
  { method: 'GET', path: '/v1/spend', operation: 'spend-get' },
  { method: 'GET', path: '/v1/opt-outs', operation: 'opt-outs-list' },
  { method: 'PUT', path: '/v1/opt-outs/{recipient}', operation: 'opt-outs-put' },
  { method: 'DELETE', path: '/v1/opt-outs/{recipient}', operation: 'opt-outs-delete' },
  { method: 'PUT', path: '/v1/webhook/config', operation: 'webhook-config-put' },
  { method: 'GET', path: '/v1/webhook/config', operation: 'webhook-config-get' },
];
