import type { Settings } from './settings.ts';

/**
 * Every route of the interface, as plain data. A route is synthesized once its function exists as
 * `functions/<operation>.ts`; until then its place is reserved here so that precedence can be checked for all of them.
 */
export interface RouteEntry {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly operation: string;
  /** Public routes are reached without a token; every other route has the authorizer. */
  readonly public?: true;
  /** Requests a second, and at once, of all callers together; without it the route has its share of the stage's. */
  readonly throttle?: { readonly ratePerSecond: number; readonly burst: number };
}

/** What the gateway lets through of one route, or of all that have no limit of their own: requests a second, and at once. */
export interface RequestLimit {
  readonly what: string;
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** A route's own limit; undefined for one that has its share of the stage's. */
export function throttleOf(
  { operation, throttle }: RouteEntry,
  { loginRatePerSecond, loginBurst }: Pick<Settings, 'loginRatePerSecond' | 'loginBurst'>,
): RouteEntry['throttle'] {
  // It is the cost of a flood that this holds: guessing is slowed by user and address, by login itself (R38).
  return operation === 'login' ? { ratePerSecond: loginRatePerSecond, burst: loginBurst } : throttle;
}

/** All limits of the gateway's stage, which come out of one quota of the account. */
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
    // Apart from the stage's: strangers who ask it take nothing from clients. Monitors ask once in seconds.
    throttle: { ratePerSecond: 100, burst: 200 },
  },
  { method: 'POST', path: '/login', operation: 'login', public: true },
  {
    method: 'GET',
    path: '/r/{code}',
    operation: 'redirect',
    public: true,
    // The recipients of a mailing, who must not take the place of clients, nor the other way round.
    throttle: { ratePerSecond: 500, burst: 1_000 },
  },
  {
    method: 'GET',
    path: '/platform/webhook',
    operation: 'platform-webhook-verify',
    public: true,
    // A person sets the address up; nobody else asks.
    throttle: { ratePerSecond: 5, burst: 10 },
  },
  {
    method: 'POST',
    path: '/platform/webhook',
    operation: 'platform-webhook-receive',
    public: true,
    // Apart from the stage's: three statuses a message, each perhaps by itself, must not take the place of the clients.
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
