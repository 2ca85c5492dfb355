import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { resourceName } from '../../infra/names.ts';
import { routes } from '../../infra/routes.ts';
import { tables } from '../../infra/tables.ts';
import { type Resource, stacksOf } from '../support/stack-templates.ts';
import { variablesReadBy } from '../support/variables-read.ts';

/* Rules for all functions; templates/plain.txt says what each has, and may do. */

const service = stacksOf('whole');
const names = Object.keys(functions);

/** Lambda reserves these names. */
const setByLambda = /^AWS_/;
/** A library reads this variable; every function has it. */
const forTheMetrics = 'POWERTOOLS_SERVICE_NAME';

interface Statement {
  readonly actions: readonly string[];
  readonly resource: unknown;
}

function functionNamed(name: string): Resource {
  const found = service
    .all('AWS::Lambda::Function')
    .find(({ properties }) => properties.FunctionName === resourceName('test', name));
  if (found === undefined) throw new Error(`no function ${name}`);
  return found;
}

const roleOf = (name: string) => service.target(functionNamed(name).properties.Role);
const variablesOf = (name: string) => Object.keys(functionNamed(name).properties.Environment.Variables);

function statementsOf(name: string): Statement[] {
  return service
    .all('AWS::IAM::Policy')
    .filter(({ properties }) => properties.Roles.some((each: unknown) => service.target(each) === roleOf(name)))
    .flatMap(({ properties }) => properties.PolicyDocument.Statement)
    .flatMap(({ Action, Resource: on }) =>
      [on].flat().map((resource) => ({ actions: [Action].flat().toSorted(), resource })),
    );
}

const isOf = (kind: string) => (statement: Statement) => statement.actions.every((each) => each.startsWith(kind));
const actionsOf = (name: string) => statementsOf(name).flatMap(({ actions }) => actions);

function textOf(resource: unknown): string {
  const [separator, parts] = (resource as { 'Fn::Join': [string, (string | { Ref: string })[]] })['Fn::Join'];
  return parts.map((part) => (typeof part === 'string' ? part : part.Ref)).join(separator);
}

/** A pattern names the secrets of credential groups, because no template contains them. */
const isGroupPattern = ({ resource }: Statement) =>
  JSON.stringify(resource).includes('??') &&
  textOf(resource) ===
    'arn:AWS::Partition:secretsmanager:AWS::Region:AWS::AccountId:secret:template-messaging-test-platform-credentials-??-??????';

const onResources = (name: string) =>
  statementsOf(name).filter((statement) => !isOf('logs:')(statement) && !isGroupPattern(statement));

/** Returns the functions whose role allows an action on this table or secret. */
function whoMay(action: RegExp, purpose: string): string[] {
  const id = service.stateful.find(({ properties }) =>
    [properties.TableName, properties.Name].includes(resourceName('test', purpose)),
  )?.id;
  const allows = ({ actions, resource }: Statement) =>
    actions.some((each) => action.test(each)) && service.target(resource) === id;
  return names.filter((name) => onResources(name).some(allows)).toSorted();
}

it.each(names)('%s has exactly the variables that its code reads', async (name) => {
  const read = [...(await variablesReadBy(name))].filter((variable) => !setByLambda.test(variable));
  const set = variablesOf(name).filter((variable) => variable !== forTheMetrics);
  expect(set.toSorted()).toEqual(read.toSorted());
});

it('no function is told what only the local stack tells: endpoints of its own, and a receiver on the machine (R40)', () => {
  const variables = names.flatMap(variablesOf);
  expect(variables).toContain('WEBHOOKS_TABLE');
  expect(variables.filter((name) => /^TRUSTED_RECEIVERS$|^AWS_ENDPOINT_URL/.test(name))).toEqual([]);
  for (const { variable } of Object.values(tables)) expect(variables).toContain(variable);
});

it('there is a function for each shape, which writes to a log of its own alone', () => {
  expect(service.all('AWS::Lambda::Function')).toHaveLength(names.length);
  const groups = service.stateful.map(({ properties }) => properties.LogGroupName);
  for (const name of names) {
    const logGroup = `/template-messaging/test/${name}`;
    expect(functionNamed(name).properties.LoggingConfig).toEqual({ LogGroup: logGroup });
    expect(groups).toContain(logGroup);
    const writing = statementsOf(name).filter(isOf('logs:'));
    expect(writing.map(({ actions, resource }) => [actions, textOf(resource)])).toEqual([
      [
        ['logs:CreateLogStream', 'logs:PutLogEvents'],
        `arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:${logGroup}:*`,
      ],
    ]);
  }
});

describe('roles (R46)', () => {
  it('are one for each function, with no managed policy', () => {
    const roles = service
      .all('AWS::IAM::Role')
      .filter(({ properties }) => JSON.stringify(properties).includes('lambda.amazonaws.com'));
    expect(roles.map(({ id }) => id).toSorted()).toEqual([...new Set(names.map(roleOf))].toSorted());
    expect(roles).toHaveLength(names.length);
    for (const { properties } of roles) expect(properties).not.toHaveProperty('ManagedPolicyArns');
  });

  it('of operators are for principals of the account alone: one may change something, one reads no secret', () => {
    const [look, act, ...more] = service
      .all('AWS::IAM::Role')
      .filter(({ properties }) => properties.Policies?.[0]?.PolicyName === 'commands')
      .map(({ properties: { AssumeRolePolicyDocument, Policies } }) => {
        expect(AssumeRolePolicyDocument.Statement).toHaveLength(1);
        expect(JSON.stringify(AssumeRolePolicyDocument.Statement[0].Principal)).toMatch(/AWS::AccountId.*:root/);
        return JSON.stringify(Policies);
      });
    expect(more).toEqual([]);
    expect(look).not.toMatch(/secretsmanager|PutItem|UpdateItem|DeleteItem|SendMessage/);
    expect(act).toMatch(/secretsmanager:GetSecretValue/);
  });

  it('name no wildcard, neither as action nor as resource, but for the streams of their own log', () => {
    const statements = names.flatMap((name) => statementsOf(name).filter((each) => !isOf('logs:')(each)));
    expect(statements.length).toBeGreaterThan(names.length);
    expect(JSON.stringify(statements)).not.toContain('*');
  });

  it.each(names)('%s may use of each table the verbs of its shape, and touch no resource beyond', (name) => {
    const { tables: granted = {}, secrets = [], sendsTo = [], consumes } = functions[name] ?? {};
    const allowed = statementsOf(name)
      .filter(isOf('dynamodb:'))
      .map(({ actions }) => actions.join());
    const shaped = Object.values(granted).map((verbs) => verbs.map((verb) => `dynamodb:${verb}`).toSorted());
    expect(allowed.toSorted()).toEqual(shaped.map((verbs) => verbs.join()).toSorted());
    const queues = new Set([...sendsTo, ...(consumes === undefined ? [] : [consumes.queue])]);
    const touched = new Set(onResources(name).map(({ resource }) => service.target(resource)));
    expect(touched.size).toBe(Object.keys(granted).length + secrets.length + queues.size);
  });

  const guarded = routes.filter((route) => route.public !== true).map(({ operation }) => operation);
  const writing = /Put|Update|Delete|Write/;
  it.each<[string, RegExp, string, readonly string[]]>([
    ['login alone reads the private signing key (R39)', /./, 'token-signing-keys', ['login']],
    ['login alone touches passwords: no sync worker, no other function', /./, 'credentials', ['login']],
    [
      "those that the platform calls alone read its apps' secrets (D38)",
      /./,
      'platform-apps',
      ['platform-webhook-receive', 'platform-webhook-verify'],
    ],
    ['no function writes the directory: provisioning does, with rights of its own', writing, 'directory', []],
    [
      'those write redirects that make them or read templates from the platform (D19)',
      writing,
      'redirects',
      ['messages-dispatch', 'messages-retry', 'messages-send', 'platform-hints'].concat(
        ...['templates-create', 'templates-delete', 'templates-edit', 'templates-sync-worker'],
      ),
    ],
    ['the redirect alone reads redirects (D19)', /GetItem/, 'redirects', ['redirect']],
    ['those behind the authorizer touch budgets (D54)', /./, 'budgets', guarded],
    ['they all count requests (D54)', /UpdateItem$/, 'budgets', guarded],
    ['none reads more budgets than one, or deletes it (D54)', /Batch|Query|Scan|Put|Delete/, 'budgets', []],
    [
      'those that record users’ actions touch the audit',
      /./,
      'audit',
      ['dispatches-cancel', 'login', 'messages-cancel', 'opt-outs-delete', 'opt-outs-put'].concat(
        ...['templates-create', 'templates-delete', 'templates-edit', 'templates-status', 'webhook-config-put'],
      ),
    ],
    ['none reads or changes the audit: it is added to', /^(?!dynamodb:PutItem$)/, 'audit', []],
  ])('%s', (_, action, purpose, expected) => {
    expect(whoMay(action, purpose)).toEqual(expected.toSorted());
  });

  it('let those that read the platform credentials read their groups too', () => {
    const ofGroups = names.filter((name) =>
      statementsOf(name).some(
        (each) => isGroupPattern(each) && each.actions.join() === 'secretsmanager:GetSecretValue',
      ),
    );
    expect(ofGroups.toSorted()).toEqual(whoMay(/GetSecretValue/, 'platform-credentials'));
    expect(ofGroups.length).toBeGreaterThan(0);
  });

  it.each(['health', 'authorizer', 'platform-webhook-receive', 'platform-webhook-verify'])(
    'give %s no table (D38)',
    (name) => expect(actionsOf(name).filter((action) => action.startsWith('dynamodb:'))).toEqual([]),
  );
});

describe('event sources', () => {
  const sourcesOf = (name: string) =>
    service
      .all('AWS::Lambda::EventSourceMapping')
      .filter(({ properties }) => service.called(properties.FunctionName) === functionNamed(name).id)
      .map(({ properties }) => properties);

  it.each(names)('%s consumes what its shape says, and nothing else', (name) => {
    const { consumes } = functions[name] ?? {};
    expect(sourcesOf(name)).toHaveLength(consumes === undefined ? 0 : 1);
    for (const source of sourcesOf(name)) {
      expect(source.BatchSize).toBe(consumes?.batchSize);
      // Lambda allows more than 10 only with a batching window.
      expect(consumes?.batchSize ?? 0).toBeLessThanOrEqual(consumes?.windowSeconds === undefined ? 10 : 10_000);
      expect(source.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      // Lambda deletes messages that a filter does not match.
      expect(source).not.toHaveProperty('FilterCriteria');
    }
  });

  it('let at least 100 messages of the dispatch queue be in flight, so that fair queues work (R23)', () => {
    const [source] = sourcesOf('messages-dispatch');
    expect(source.BatchSize * source.ScalingConfig.MaximumConcurrency).toBeGreaterThanOrEqual(100);
  });

  it('allow recursion exactly where a worker sends to the queue it consumes', () => {
    const allowed = names.filter((name) => functionNamed(name).properties.RecursiveLoop === 'Allow');
    const sendingBack = names.filter((name) =>
      sourcesOf(name).some(({ EventSourceArn }) =>
        onResources(name).some(
          ({ actions, resource }) =>
            actions.includes('sqs:SendMessage') && service.target(resource) === service.target(EventSourceArn),
        ),
      ),
    );
    expect(allowed).toEqual(sendingBack);
    expect(allowed.length).toBeGreaterThan(3);
  });
});
