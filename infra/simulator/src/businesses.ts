import { notSimulated } from './errors.ts';
import { type NodeShape, selection } from './fields.ts';
import { wabaNode, wabaShape } from './numbers.ts';
import { omitUndefined } from './omit-undefined.ts';
import { pageOf } from './paging.ts';
import type { PlatformRequest } from './platform-request.ts';
import { json, type Reply } from './reply.ts';
import type { SeedToken } from './seed.ts';
import type { World } from './state.ts';
import { ownerOf, type Waba } from './wabas.ts';

const businessShape: NodeShape = {
  type: 'Business',
  byDefault: ['id', 'name'],
  known: ['id', 'name', 'whatsapp_business_manager_messaging_limit'],
};

const ownedByDefault = ['id', 'name', 'timezone_id', 'message_template_namespace'];
const sharedByDefault = ['id', 'name', 'currency', 'timezone_id'];
const largestPage = 100;

/**
 * Answers `GET /{business_id}` and its owned and shared WABAs within the token's reach (platform reference, 8), without
 * `find` and `filtering`. Returns undefined when the token reaches no WABA that the business owns.
 */
export function answerBusiness(
  world: World,
  call: { readonly token: SeedToken; readonly nodeId: string; readonly operation: string },
  request: PlatformRequest,
): Reply | undefined {
  const reached = [...world.wabas.values()].filter(({ id }) => call.token.waba_ids.includes(id));
  const owned = reached.filter((waba) => ownerOf(waba)?.id === call.nodeId);
  const [first] = owned;
  if (first === undefined) return undefined;
  if (call.operation === 'GET') {
    const { whatsapp_business_manager_messaging_limit } = first.fields;
    const node = { ...ownerOf(first), ...omitUndefined({ whatsapp_business_manager_messaging_limit }) };
    return json(selection(request.query.get('fields'), businessShape)(node));
  }
  if (call.operation === 'GET owned_whatsapp_business_accounts') {
    return listed(world, { wabas: owned, byDefault: ownedByDefault }, request);
  }
  if (call.operation === 'GET client_whatsapp_business_accounts') {
    const shared = reached.filter((waba) => !owned.includes(waba));
    return listed(world, { wabas: shared, byDefault: sharedByDefault }, request);
  }
  throw notSimulated(call.nodeId, call.operation);
}

function listed(
  world: World,
  { wabas, byDefault }: { readonly wabas: readonly Waba[]; readonly byDefault: readonly string[] },
  request: PlatformRequest,
): Reply {
  const select = selection(request.query.get('fields'), { ...wabaShape, byDefault });
  const placed = wabas.map((waba, place) => ({ waba, place }));
  const page = pageOf(placed, { query: request.query, self: request.self, maximum: largestPage });
  const data = page.items.map(({ waba }) => {
    const self = request.self.replace(/\/[^/]+\/[^/]+\/?$/, `/${waba.id}`);
    return select(wabaNode(world, waba, { ...request, self }));
  });
  return json({ data, paging: page.paging });
}
