/*
 * These answers have the shape of functions/openapi.json. They stand for the service, for a demo user of a client with
 * very many dispatches.
 */

const newestMs = Date.parse('2026-11-20T12:00:00Z');
const did = '5491100000001';

const dispatchStates = ['complete', 'running', 'held', 'complete', 'scheduled', 'complete', 'cancelled'];

/** Returns the answer to a GET of `path`, or to the login; undefined where the list does not need the path. */
export function dispatchesPage(path: string, total: number): object | undefined {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1');
  if (pathname === '/login') return { access_token: 'bench', token_type: 'Bearer', expires_in: 3_600 };
  if (pathname === '/v1/me') return { client: { id: 1001, name: 'Andes Retail' }, campaigns: [] };
  if (pathname === '/v1/client-messaging-channels') return { data: [{ did, name: 'Andes Retail' }] };
  if (pathname !== '/v1/dispatches') return undefined;
  // Each dispatch is a second older than the one above it, so that `to` selects the older ones.
  const to = searchParams.get('to');
  const first = to === null ? Number(searchParams.get('cursor') ?? 0) : Math.floor((newestMs - Date.parse(to)) / 1_000);
  const limit = Number(searchParams.get('limit') ?? 100);
  const end = Math.min(total, Math.max(0, first) + limit);
  const data = Array.from({ length: Math.max(0, end - Math.max(0, first)) }, (_, index) => dispatchOf(first + index));
  return { data, paging: { cursors: end < total ? { after: String(end) } : {} } };
}

function dispatchOf(place: number) {
  const state = dispatchStates[place % dispatchStates.length] ?? 'complete';
  const total = 1 + (place % 5_000);
  const pending = state === 'complete' || state === 'cancelled' ? 0 : Math.ceil(total / 3);
  const failed = Math.floor((total - pending) / 10);
  return {
    dispatch_id: `01KA${String(place).padStart(22, '0')}`,
    client_id: 1001,
    did,
    template: { name: 'order_update', language: 'en_US' },
    accepted_at: new Date(newestMs - place * 1_000).toISOString(),
    state,
    total,
    counts: {
      ...{ pending, held: 0, sent: 0, delivered: 0, failed, expired: 0, unknown: 0 },
      read: total - pending - failed,
    },
    complete: pending === 0,
    cost: { amount: total * 0.02, currency: 'USD', basis: 'list', final: pending === 0 },
  };
}
