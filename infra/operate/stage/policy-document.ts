import { deadLettersOf, queuePurposes, resourceName, secretPurposes } from '../../names.ts';
import type { QueueName } from '../../queues.ts';
import type { TableName } from '../../tables.ts';
import policies from './policies.json' with { type: 'json' };

/**
 * An operator's command may do no more than its code can call, which a test compares. AWS tells who calls without any
 * right.
 */
export interface CommandRights {
  readonly tables?: Readonly<Partial<Record<TableName, readonly string[]>>>;
  /** The keys are the functions' variables; the platform's credentials are one secret, or one for each group. */
  readonly secrets?: Readonly<Partial<Record<keyof typeof secretPurposes, readonly string[]>>>;
  /** `*` is every queue. */
  readonly queues?: QueueRights;
  /** The rights are on the dead-letter queues. */
  readonly deadLetters?: QueueRights;
  readonly others?: readonly {
    readonly actions: readonly string[];
    readonly resource: string;
    /** The text says why the resource is no narrower. */
    readonly because?: string;
  }[];
}

type QueueRights = Readonly<Partial<Record<QueueName | '*', readonly string[]>>>;

export const commandRights: Readonly<Record<string, CommandRights>> = policies;

export interface PolicyScope {
  readonly stage: string;
  readonly partition: string;
  /** The names of services end with it in the conditions of keys: `amazonaws.com`. */
  readonly urlSuffix: string;
  readonly account: string;
  readonly region: string;
  /** The stage may have a customer managed key (`encryptionKeyArn`). */
  readonly encryptionKeyArn?: string | undefined;
}

interface Statement {
  readonly Effect: 'Allow';
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: object;
}

export interface PolicyDocument {
  readonly Version: '2012-10-17';
  readonly Statement: readonly Statement[];
}

/** AWS takes at most this many characters of all policies of a role, blanks not counted. */
export const mostPolicyCharacters = 10_240;

/** Who looks changes nothing, and reads no secret: an access token sends messages, a signing key makes tokens. */
const looking = ['outcomes', 'holds', 'number', 'audit', 'template-types', 'events', 'check'];
const looksOnly = /:(?:BatchGet|Get|List|Describe)|:Query$|:Scan$/;
const ofSecrets = 'secretsmanager:';

/** Returns the policy of the role that looks: what the commands that show something read. */
export function lookPolicy(scope: PolicyScope): PolicyDocument {
  return policyDocument(looking, scope, (action) => looksOnly.test(action) && !action.startsWith(ofSecrets));
}

/** Returns the policy of the role that acts: what all commands do. */
export function actPolicy(scope: PolicyScope): PolicyDocument {
  return policyDocument(Object.keys(commandRights), scope);
}

/**
 * Returns one policy of IAM with the rights of commands: what they share stands once. `commands` are keys of
 * `commandRights`.
 */
export function policyDocument(
  commands: readonly string[],
  scope: PolicyScope,
  isAllowed: (action: string) => boolean = () => true,
): PolicyDocument {
  const actionsByResource = new Map<string, Set<string>>();
  for (const [resource, actions] of commands.flatMap((command) => rightsOf(commandRights[command] ?? {}, scope))) {
    const allowed = actions.filter(isAllowed);
    if (allowed.length === 0) continue;
    actionsByResource.set(resource, new Set([...(actionsByResource.get(resource) ?? []), ...allowed]));
  }
  const resourcesByActions = new Map<string, string[]>();
  for (const [resource, actions] of actionsByResource) {
    const key = [...actions].sort().join(' ');
    resourcesByActions.set(key, [...(resourcesByActions.get(key) ?? []), resource]);
  }
  const statements = [...resourcesByActions].map(([actions, resources]): Statement => {
    return { Effect: 'Allow', Action: actions.split(' '), Resource: resources.sort() };
  });
  return { Version: '2012-10-17', Statement: [...statements, ...keyUse(actionsByResource, scope)] };
}

type Right = readonly [resource: string, actions: readonly string[]];

function rightsOf({ tables, secrets, queues, deadLetters, others = [] }: CommandRights, scope: PolicyScope): Right[] {
  const { stage, partition, account, region } = scope;
  const arn = (service: string, resource: string) => `arn:${partition}:${service}:${region}:${account}:${resource}`;
  const queueArns = (name: string, nameOf: (purpose: string) => string) =>
    (name === '*' ? Object.values(queuePurposes) : [queuePurposes[name as QueueName]]).map((purpose) =>
      arn('sqs', resourceName(stage, nameOf(purpose))),
    );
  const placeholders: Readonly<Record<string, string>> = {
    ...{ partition, region, account },
    prefix: resourceName(stage, ''),
  };
  return [
    ...rights('dynamodb', tables, (table) => [arn('dynamodb', `table/${resourceName(stage, table)}`)]),
    ...rights('secretsmanager', secrets, (variable) => [
      arn('secretsmanager', `secret:${resourceName(stage, secretPurposes[variable as keyof typeof secretPurposes])}`) +
        (variable === 'PLATFORM_CREDENTIALS_SECRET' ? anyGroup : anySuffix),
    ]),
    ...rights('sqs', queues, (name) => queueArns(name, (purpose) => purpose)),
    ...rights('sqs', deadLetters, (name) => queueArns(name, deadLettersOf)),
    ...others.map(({ actions, resource }): Right => {
      return [resource.replaceAll(/\{(\w+)\}/g, (_, name) => placeholders[name] ?? ''), actions];
    }),
  ];
}

/** AWS appends six characters of its own to the name of a secret. */
const anySuffix = '-??????';
/** A group's name begins alike and gets a suffix too; AWS sees the name alone of a group that has no secret yet. */
const anyGroup = '-*';

function rights(
  service: string,
  verbs: Readonly<Partial<Record<string, readonly string[]>>> = {},
  arnsOf: (name: string) => readonly string[],
): Right[] {
  return Object.entries(verbs).flatMap(([name, some = []]) =>
    arnsOf(name).map((arn): Right => [arn, some.map((verb) => `${service}:${verb}`)]),
  );
}

/** Allows the stage's own key only through the services that the commands use, as for the functions (key-use.ts). */
function keyUse(
  rightsByResource: ReadonlyMap<string, ReadonlySet<string>>,
  { encryptionKeyArn, region, urlSuffix }: PolicyScope,
): readonly Statement[] {
  if (encryptionKeyArn === undefined) return [];
  const actions = [...rightsByResource.values()].flatMap((some) => [...some]);
  const encrypted = ['dynamodb', 'secretsmanager', 'sqs'].filter((service) =>
    actions.some((action) => action.startsWith(`${service}:`)),
  );
  return [
    {
      Effect: 'Allow',
      Action: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'],
      Resource: [encryptionKeyArn],
      Condition: {
        StringEquals: { 'kms:ViaService': encrypted.map((service) => `${service}.${region}.${urlSuffix}`) },
      },
    },
  ];
}
