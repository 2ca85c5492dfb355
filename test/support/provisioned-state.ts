import type { MonthlyBudget } from '../../lib/access/directory.ts';
import type { Attributes } from '../../lib/provisioning/provisioned-items.ts';
import {
  type ItemChange,
  type ProvisionedState,
  type ProvisioningPlan,
  placeText,
  type StoredItem,
} from '../../lib/provisioning/provisioning-plan.ts';

/** Returns the state after one write, as the store carries it out. */
function afterChange(items: readonly StoredItem[], { set, whenAbsent, ...place }: ItemChange): StoredItem[] {
  const others = items.filter((item) => placeText(item) !== placeText(place));
  if (set === undefined) return others;
  const before = items.find((item) => placeText(item) === placeText(place))?.attributes;
  return [...others, { ...place, attributes: { ...whenAbsent, ...before, ...set } }];
}

/** Returns the state before a plan and after each of its writes. */
export function statesOf(start: ProvisionedState, plan: ProvisioningPlan): ProvisionedState[] {
  const states = [start];
  let { items, platformCredentials, platformApps } = start;
  const reached = () => states.push({ items, platformCredentials, platformApps });
  for (const change of plan.revocations) {
    items = afterChange(items, change);
    reached();
  }
  if (plan.platformCredentials !== undefined) {
    platformCredentials = plan.platformCredentials;
    reached();
  }
  if (plan.platformApps !== undefined) {
    platformApps = plan.platformApps;
    reached();
  }
  for (const change of plan.grants) {
    items = afterChange(items, change);
    reached();
  }
  return states;
}

interface User {
  readonly clientId: number;
  readonly permissions: readonly string[];
  readonly campaignIds: readonly number[];
}

/**
 * Returns all permissions, from the items as the functions read them: the rights of each password; the clients, numbers
 * and platform tokens it may send with; and the opt-outs that such a send ignores.
 */
export function allowedIn({ items, platformCredentials }: ProvisionedState): Set<string> {
  const allowed = new Set<string>();
  const at = (pk: string, sk: string) =>
    items.find(({ key }) => key.pk === pk && key.sk === sk)?.attributes as User | undefined;
  const uses = items.flatMap((item) => usesOf(item, platformCredentials));
  for (const { clientId, use } of uses) allowed.add(`client ${clientId} ${use}`);
  for (const { table, key, attributes } of items) {
    if (table !== 'credentials') continue;
    const user = at(`CLIENT#${attributes['clientId']}`, `USER#${attributes['userId']}`);
    if (user === undefined) continue;
    const login = `${key.pk} with ${attributes['passwordHash']} of client ${user.clientId}`;
    allowed.add(login);
    for (const permission of user.permissions) allowed.add(`${login} may ${permission}`);
    for (const campaignId of user.campaignIds) allowed.add(`${login} sees campaign ${campaignId}`);
    for (const { clientId, use } of uses) {
      const may = clientId === user.clientId || user.permissions.includes('BSP_CN');
      if (may) allowed.add(`${login} for client ${clientId} ${use}`);
    }
  }
  return allowed;
}

function usesOf(
  { key, attributes }: StoredItem,
  tokens: ProvisionedState['platformCredentials'],
): { readonly clientId: number; readonly use: string }[] {
  const tokenOf = (waba: Attributes) => tokens[String(waba['credential'])]?.accessToken;
  if (key.sk === 'DID') {
    const { channel, waba } = attributes as { channel: Attributes; waba: Attributes & { clientIds: number[] } };
    const clientIds =
      waba['dids'] === 'own' ? waba.clientIds.filter((id) => id === channel['clientId']) : waba.clientIds;
    const use = `${key.pk}: number ${channel['phoneNumberId']} of WABA ${waba['wabaId']} with ${tokenOf(waba)}`;
    const utilityStops = waba['utilityStops'] as readonly number[];
    const budgets = (waba['monthlyBudgets'] ?? []) as readonly MonthlyBudget[];
    const maySpend = (id: number, dollars: number) =>
      budgets.every(({ clientId, amount, stop }) => clientId !== id || !stop || amount > dollars);
    return clientIds.flatMap((clientId) => [
      { clientId, use },
      ...(waba['platformStops'] === 'waba' ? [] : [{ clientId, use: `${use}, whose stop concerns another number` }]),
      ...(utilityStops.includes(clientId) ? [] : [{ clientId, use: `${use}, UTILITY whatever was stopped` }]),
      ...[10, 20].flatMap((dollars) =>
        maySpend(clientId, dollars) ? [{ clientId, use: `${use}, for more than ${dollars} a month` }] : [],
      ),
    ]);
  }
  if (key.sk?.startsWith('WABA#') === true) {
    const clientId = Number(key.pk.slice('CLIENT#'.length));
    return [{ clientId, use: `templates of ${key.sk} with ${tokenOf(attributes)}` }];
  }
  return [];
}
