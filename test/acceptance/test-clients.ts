import { randomBytes, randomUUID } from 'node:crypto';
import { DeleteCommand, GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { demoSeed } from '#simulator/contract';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { CommandError } from '../../infra/operate/command.ts';
import type { Target } from '../../infra/operate/target.ts';
import type { TableName } from '../../infra/tables.ts';
import { clientKey, didKey } from '../../lib/access/directory-items.ts';
import { credentialKey } from '../../lib/access/sign-in/credential-items.ts';
import { hashPassword, saltBytes } from '../../lib/access/sign-in/password.ts';
import {
  credentialItem,
  type ProvisionedItem,
  provisionedChannels,
  provisionedItems,
} from '../../lib/provisioning/provisioned-items.ts';
import { provisioningPlan } from '../../lib/provisioning/provisioning-plan.ts';
import { type ProvisioningRun, provisioningStore } from '../../lib/provisioning/provisioning-store.ts';
import { factKey, rowPartitions } from '../../lib/templates/model/items.ts';
import { PlatformTemplateSchema } from '../../lib/templates/model/template.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import type { AcceptanceContext } from '../support/addresses.ts';
import { acceptanceFile, inPlaceOf, mark, testClientIds, usernameOf } from './acceptance-data.ts';

/*
 * The clients of the acceptance run are written straight into the stores, with random passwords that are never shown.
 */

export interface TestClients {
  readonly logins: AcceptanceContext['logins'];
  /** Removes the clients and everything that was written for them. */
  remove(): Promise<void>;
}

/**
 * Creates the test clients after removing what an earlier run has left. The lease of provisioning is held to the end.
 * Throws `CommandError` when an id or a name belongs to another client.
 */
export async function putTestClients(target: Target): Promise<TestClients> {
  const logins: TestClients['logins'] = Object.fromEntries(
    demo.users.map(({ username }) => [
      username,
      { username: usernameOf(username), password: randomBytes(24).toString('base64url') },
    ]),
  );
  const run = await lock(target);
  const renewal = setInterval(() => void run.renew().catch(() => clearInterval(renewal)), 30_000);
  const remove = async () => {
    clearInterval(renewal);
    await removeAll(target);
    await run.end();
  };
  try {
    await refuseForeign(target);
    await removeAll(target);
    const nothing = { items: [], platformCredentials: {}, platformApps: {} };
    const wanted = { ...nothing, items: [...itemsWithoutLogins(), ...(await credentialItems(logins))] };
    await run.write(provisioningPlan(nothing, wanted).grants);
    await putTemplates(target);
  } catch (error) {
    await (error instanceof CommandError ? run.end() : remove());
    throw error;
  }
  return { logins, remove };
}

/** Throws `ProvisioningUnderWay` while a provisioning or another acceptance run holds the lease. */
export function assertNobodyProvisions({ documentClient, tableName }: Target): Promise<void> {
  return provisioningStore({ documentClient, tableName, nowMs: Date.now }).assertFree();
}

/** Removes what a killed run has left. */
export async function removeTestClients(target: Target): Promise<void> {
  const run = await lock(target);
  try {
    await refuseForeign(target);
    await removeAll(target);
  } finally {
    await run.end();
  }
}

function lock({ documentClient, tableName }: Target): Promise<ProvisioningRun> {
  return provisioningStore({ documentClient, tableName, nowMs: Date.now }).begin(randomUUID());
}

function itemsWithoutLogins(): ProvisionedItem[] {
  return [...provisionedItems(acceptanceFile), ...provisionedChannels(acceptanceFile, new Date().toISOString())];
}

async function credentialItems(logins: TestClients['logins']): Promise<ProvisionedItem[]> {
  const passwords = new Map(Object.values(logins).map(({ username, password }) => [username, password]));
  return await Promise.all(
    acceptanceFile.users.map(async (user) => {
      const passwordHash = await hashPassword(passwords.get(user.username) ?? '', randomBytes(saltBytes));
      return credentialItem(user, { passwordHash });
    }),
  );
}

/** Throws unless each id and name of the run is free or an earlier run's. */
async function refuseForeign({ documentClient, tableName }: Target): Promise<void> {
  const read = async (table: TableName, Key: { readonly pk: string; readonly sk?: string }) => {
    const { Item } = await documentClient.send(
      new GetCommand({ TableName: tableName(table), Key, ConsistentRead: true }),
    );
    return Item;
  };
  const ours = new Set(testClientIds);
  const foreign: string[] = [];
  for (const { client_id } of acceptanceFile.clients) {
    const name = (await read('directory', clientKey(client_id)))?.['name'];
    if (name !== undefined && !String(name).startsWith(mark)) foreign.push(`client ${client_id}`);
  }
  for (const { did } of acceptanceFile.channels) {
    const item = await read('directory', didKey(did));
    if (item !== undefined && !ours.has(Number(item['channel']?.clientId))) foreign.push(`DID ${did}`);
  }
  for (const { username } of acceptanceFile.users) {
    const item = await read('credentials', credentialKey(username));
    if (item !== undefined && !ours.has(Number(item['clientId']))) foreign.push(`user ${username}`);
  }
  if (foreign.length > 0)
    throw new CommandError(`Nothing was done: not of an acceptance run: ${foreign.join(', ')}`, 1);
}

/** Stores the demo templates as a synchronization would. */
async function putTemplates({ documentClient, tableName }: Target): Promise<void> {
  const templates = templateStore(documentClient, tableName('templates'));
  for (const waba of demoSeed().wabas) {
    const wabaId = inPlaceOf(waba.node.id);
    const clientIds = acceptanceFile.wabas.find(({ waba_id }) => waba_id === wabaId)?.client_ids ?? [];
    await templates.writeUpstream(
      waba.templates.map((template) => ({
        kind: 'present' as const,
        wabaId,
        clientIds,
        template: v.parse(PlatformTemplateSchema, template),
        readAtMs: Date.now(),
      })),
    );
  }
}

async function removeAll({ documentClient, tableName }: Target): Promise<void> {
  const remove = (table: TableName, Key: { readonly pk: string; readonly sk?: string }) =>
    documentClient.send(new DeleteCommand({ TableName: tableName(table), Key }));
  // Logins go first, so that no user works with data that is half removed.
  for (const { username } of acceptanceFile.users) await remove('credentials', credentialKey(username));
  for (const { table, key } of itemsWithoutLogins()) await remove(table, key);
  for (const clientId of testClientIds) {
    for (const pk of rowPartitions(clientId)) {
      for (const sk of await sortKeysOf('templates', pk)) {
        await remove('templates', { pk, sk });
        await remove('templates', factKey(sk));
      }
    }
    const ofWebhooks = `CLIENT#${clientId}`;
    for (const sk of await sortKeysOf('webhooks', ofWebhooks)) await remove('webhooks', { pk: ofWebhooks, sk });
  }

  async function sortKeysOf(table: TableName, pk: string): Promise<string[]> {
    const found: string[] = [];
    const pages = paginateQuery(
      { client: documentClient },
      {
        TableName: tableName(table),
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ProjectionExpression: 'sk',
        ConsistentRead: true,
      },
    );
    for await (const { Items = [] } of pages) found.push(...Items.map(({ sk }) => String(sk)));
    return found;
  }
}
