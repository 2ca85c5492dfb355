import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { resourceName } from '../../infra/names.ts';
import { routes } from '../../infra/routes.ts';
import { tables } from '../../infra/tables.ts';
import { type Resource, stacksOf } from '../support/stack-templates.ts';
import { variablesReadBy } from '../support/variables-read.ts';

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

function variablesOf(name: string): string[] {
  return Object.keys(functionNamed(name).properties.Environment.Variables);
}

function statementsOf(name: string): Statement[] {
  const role = service.target(functionNamed(name).properties.Role);
  return service
    .all('AWS::IAM::Policy')
    .filter(({ properties }) => properties.Roles.some((each: unknown) => service.target(each) === role))
    .flatMap(({ properties }) => properties.PolicyDocument.Statement)
    .flatMap((statement) =>
      [statement.Resource].flat().map((resource) => ({ actions: [statement.Action].flat(), resource })),
    );
}

/** Another test checks the right to write the function's own log. */
function beyondLogs(name: string): Statement[] {
  return statementsOf(name).filter(({ actions }) => !actions.some((action) => action.startsWith('logs:')));
}

function textOf(resource: unknown): string {
  const [separator, parts] = (resource as { 'Fn::Join': [string, (string | { Ref: string })[]] })['Fn::Join'];
  return parts.map((part) => (typeof part === 'string' ? part : part.Ref)).join(separator);
}

const groupPattern =
  'arn:AWS::Partition:secretsmanager:AWS::Region:AWS::AccountId:secret:template-messaging-test-platform-credentials-??-??????';

/** A pattern names the secrets of credential groups, because no template contains them. */
function isGroupPattern(resource: unknown): boolean {
  return JSON.stringify(resource).includes('??') && textOf(resource) === groupPattern;
}

function onResources(name: string): Statement[] {
  return beyondLogs(name).filter(({ resource }) => !isGroupPattern(resource));
}

/** Returns the functions whose role allows an action on this resource. */
function whoMay(action: RegExp, physicalName: string): string[] {
  const resource = service.stateful.find(({ properties }) =>
    [properties.TableName, properties.Name, properties.QueueName].includes(physicalName),
  );
  return names.filter((name) =>
    onResources(name).some(
      (statement) =>
        statement.actions.some((each) => action.test(each)) && service.target(statement.resource) === resource?.id,
    ),
  );
}

describe.each(names)('function %s', (name) => {
  const { properties } = functionNamed(name);

  it('has the share of the account that its shape names, and no other', () => {
    const shares = {
      ...{ authorizer: 100, 'messages-dispatch': 200, login: 60, 'platform-webhook-receive': 100 },
    } as Readonly<Record<string, number>>;
    expect(properties.ReservedConcurrentExecutions).toBe(shares[name]);
  });

  it('runs Node.js 24 on arm64 with the time-out and memory of its shape', () => {
    expect(properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      Timeout: functions[name]?.timeoutSeconds,
      MemorySize: functions[name]?.memoryMb,
    });
  });

  it('has exactly the variables that its code reads', async () => {
    const read = [...(await variablesReadBy(name))].filter((variable) => !setByLambda.test(variable));
    const set = variablesOf(name).filter((variable) => variable !== forTheMetrics);
    expect(set.toSorted()).toEqual(read.toSorted());
  });

  it('has the service name under which its metrics stand', () => {
    expect(properties.Environment.Variables[forTheMetrics]).toBe('template-messaging-test-service');
  });

  it('logs to a group of its own that forgets after the set time', () => {
    const logGroup = `/template-messaging/test/${name}`;
    expect(properties.LoggingConfig).toEqual({ LogGroup: logGroup });
    const group = service.stateful.find((each) => each.properties.LogGroupName === logGroup);
    expect(group?.properties.RetentionInDays).toBe(90);
    const [writing, ...more] = statementsOf(name).filter(({ actions }) => actions.some((each) => /^logs:/.test(each)));
    expect(more).toEqual([]);
    expect(writing?.actions.toSorted()).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
    expect(textOf(writing?.resource)).toBe(
      `arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:${logGroup}:*`,
    );
  });

  it('may touch no resource beyond those its shape names (R46)', () => {
    const { tables: granted = {}, secrets = [], sendsTo = [], consumes } = functions[name] ?? {};
    const rights = onResources(name).map(({ resource }) => service.target(resource));
    const queueCount = new Set([...sendsTo, ...(consumes === undefined ? [] : [consumes.queue])]).size;
    expect(new Set(rights).size).toBe(Object.keys(granted).length + secrets.length + queueCount);
  });
});

it('the templates have these functions and no others', () => {
  expect(service.all('AWS::Lambda::Function').length).toBe(names.length);
});

describe('roles (R46)', () => {
  it('are one for each function, with no managed policy', () => {
    // canaries.test.ts checks CodeDeploy's role.
    const roles = service
      .all('AWS::IAM::Role')
      .filter(({ properties }) => JSON.stringify(properties).includes('lambda.amazonaws.com'));
    const used = names.map((name) => service.target(functionNamed(name).properties.Role));
    expect(new Set(used).size).toBe(names.length);
    expect(roles.length).toBe(names.length);
    for (const { properties } of roles) expect(properties).not.toHaveProperty('ManagedPolicyArns');
  });

  it('of operators are two, for principals of the account alone: one may change something, one reads no secret', () => {
    const roles = service
      .all('AWS::IAM::Role')
      .filter(({ properties }) => properties.Policies?.[0]?.PolicyName === 'commands');
    expect(roles.map(({ properties }) => properties.Description)).toEqual([
      expect.stringContaining('sees'),
      expect.stringContaining('runs'),
    ]);
    const [look, act] = roles.map(({ properties: { AssumeRolePolicyDocument, Policies } }) => {
      expect(AssumeRolePolicyDocument.Statement).toHaveLength(1);
      expect(JSON.stringify(AssumeRolePolicyDocument.Statement[0].Principal)).toMatch(/AWS::AccountId.*:root/);
      return JSON.stringify(Policies);
    });
    expect(look).not.toMatch(/secretsmanager|PutItem|UpdateItem|DeleteItem|SendMessage/);
    expect(act).toMatch(/secretsmanager:GetSecretValue/);
  });

  it('name no wildcard, neither as action nor as resource, but for the streams of their own log', () => {
    const statements = names.flatMap(beyondLogs);
    expect(statements.length).toBeGreaterThan(names.length);
    expect(JSON.stringify(statements)).not.toContain('*');
  });

  it('allow of each table exactly the verbs of the shape', () => {
    for (const name of names) {
      const granted = statementsOf(name)
        .map(({ actions }) => actions)
        .filter((actions) => actions.some((action) => action.startsWith('dynamodb:')));
      const shaped = Object.values(functions[name]?.tables ?? {}).map((verbs) =>
        verbs.map((verb) => `dynamodb:${verb}`),
      );
      expect(granted.map((actions) => actions.toSorted()).toSorted()).toEqual(
        shaped.map((actions) => actions.toSorted()).toSorted(),
      );
    }
  });

  it('never allow a table to be scanned', () => {
    expect(names.flatMap(statementsOf).flatMap(({ actions }) => actions)).not.toContain('dynamodb:Scan');
  });

  it('let only login read the private signing key (R39)', () => {
    expect(whoMay(/./, resourceName('test', 'token-signing-keys'))).toEqual(['login']);
  });

  it('let only those that read the platform credentials read their groups too', () => {
    const ofGroups = names.filter((name) =>
      statementsOf(name).some(
        ({ actions, resource }) => isGroupPattern(resource) && actions.join() === 'secretsmanager:GetSecretValue',
      ),
    );
    expect(ofGroups).toEqual(whoMay(/GetSecretValue/, resourceName('test', 'platform-credentials')));
    expect(ofGroups.length).toBeGreaterThan(0);
  });

  it("let only those that the platform calls read its apps' secrets, and touch no table (D38)", () => {
    const called = ['platform-webhook-receive', 'platform-webhook-verify'];
    expect(whoMay(/./, resourceName('test', 'platform-apps')).toSorted()).toEqual(called);
    for (const name of called) {
      expect(statementsOf(name).flatMap(({ actions }) => actions)).not.toContainEqual(
        expect.stringMatching(/^dynamodb:/),
      );
    }
  });

  it('let only login touch passwords: no sync worker, no other function', () => {
    expect(whoMay(/./, resourceName('test', 'credentials'))).toEqual(['login']);
  });

  it('let no function write the directory: provisioning does, with rights of its own', () => {
    expect(whoMay(/Put|Update|Delete|Write/, resourceName('test', 'directory'))).toEqual([]);
    expect(whoMay(/GetItem/, resourceName('test', 'directory'))).toContain('login');
  });

  it('let only those write redirects that make them or read templates from the platform, and only the redirect read them (D19)', () => {
    const table = resourceName('test', 'redirects');
    const writers = [
      'messages-dispatch',
      'messages-retry',
      'messages-send',
      'platform-hints',
      'templates-create',
      'templates-delete',
      'templates-edit',
      'templates-sync-worker',
    ];
    expect(whoMay(/Put|Update|Delete|Write/, table).toSorted()).toEqual(writers);
    expect(whoMay(/GetItem/, table)).toEqual(['redirect']);
  });

  it('let exactly those behind the authorizer count requests and read one counter, and let none read more or delete it (D54)', () => {
    const table = resourceName('test', 'budgets');
    const guarded = routes.filter((route) => route.public !== true).map(({ operation }) => operation);
    expect(whoMay(/./, table).toSorted()).toEqual(guarded.toSorted());
    expect(whoMay(/UpdateItem$/, table).toSorted()).toEqual(guarded.toSorted());
    expect(whoMay(/Batch|Query|Scan|Put|Delete/, table)).toEqual([]);
  });

  it('let the functions that record users’ actions add lines to the audit, and let none read or change them', () => {
    const table = resourceName('test', 'audit');
    expect(whoMay(/./, table).toSorted()).toEqual([
      'dispatches-cancel',
      'login',
      'messages-cancel',
      'opt-outs-delete',
      'opt-outs-put',
      'templates-create',
      'templates-delete',
      'templates-edit',
      'templates-status',
      'webhook-config-put',
    ]);
    expect(whoMay(/^(?!dynamodb:PutItem$)/, table)).toEqual([]);
  });

  it('give health and the authorizer no table', () => {
    for (const name of ['health', 'authorizer']) {
      expect(statementsOf(name).flatMap(({ actions }) => actions)).not.toContainEqual(
        expect.stringMatching(/^dynamodb:/),
      );
    }
  });
});

describe('event sources', () => {
  const sources = new Map(
    names.map((name) => [
      name,
      service
        .all('AWS::Lambda::EventSourceMapping')
        .filter(({ properties }) => service.called(properties.FunctionName) === functionNamed(name).id),
    ]),
  );

  it.each(names)('%s consumes what its shape says, and nothing else', (name) => {
    const { consumes } = functions[name] ?? {};
    const found = sources.get(name) ?? [];
    expect(found.length).toBe(consumes === undefined ? 0 : 1);
    for (const { properties } of found) {
      expect(properties.BatchSize).toBe(consumes?.batchSize);
      expect(properties.MaximumBatchingWindowInSeconds).toBe(consumes?.windowSeconds);
      // Lambda allows more than 10 only with a batching window.
      expect(consumes?.batchSize ?? 0).toBeLessThanOrEqual(consumes?.windowSeconds === undefined ? 10 : 10_000);
      expect(properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      // Lambda deletes messages that a filter does not match.
      expect(properties).not.toHaveProperty('FilterCriteria');
    }
  });

  it('let at least 100 messages of the dispatch queue be in flight, so that fair queues work (R23)', () => {
    const [properties] = (sources.get('messages-dispatch') ?? []).map((source) => source.properties);
    expect(properties.BatchSize * properties.ScalingConfig.MaximumConcurrency).toBeGreaterThanOrEqual(100);
  });

  it('allow recursion exactly where a worker sends to the queue it consumes', () => {
    const allowed = names.filter((name) => functionNamed(name).properties.RecursiveLoop === 'Allow');
    expect(allowed.sort()).toEqual([
      'events-deliver',
      'messages-dispatch',
      'messages-dispatch-urgent',
      'platform-hints',
      'spend-count',
      'templates-sync-worker',
    ]);
  });
});

it('each table is used by a function', () => {
  const variables = new Set(names.flatMap(variablesOf));
  for (const { variable } of Object.values(tables)) expect(variables).toContain(variable);
});

it('no function is told what only the local stack tells: endpoints of its own, and a receiver on the machine (R40)', () => {
  const variables = names.flatMap(variablesOf);
  expect(variables).toContain('WEBHOOKS_TABLE');
  expect(variables.filter((name) => /^TRUSTED_RECEIVERS$|^AWS_ENDPOINT_URL/.test(name))).toEqual([]);
});

it('settings arrive in the functions, numbers also as the text that the command line gives', () => {
  const chosen = stacksOf('chosen');
  const environments = [service, chosen].map((stacks) =>
    stacks.all('AWS::Lambda::Function').map(({ properties }) => properties.Environment?.Variables),
  );
  expect(environments[0]).toContainEqual(expect.objectContaining({ REDIRECT_BASE_URL: 'https://go.example.com' }));
  for (const told of [
    { PLATFORM_BASE_URL: 'http://127.0.0.1:3001', PLATFORM_VERSION: 'v26.0' },
    { SYNC_LOCK_SCOPE: 'client' },
    { TOKEN_ISSUER: 'https://issuer.example', TOKEN_AUDIENCE: 'urn:template-messaging:test:api' },
    { CLIENT_RATE_PER_MINUTE: '0' },
  ]) {
    expect(environments[1]).toContainEqual(expect.objectContaining(told));
  }
  const concurrencies = chosen
    .all('AWS::Lambda::EventSourceMapping')
    .map(({ properties }) => properties.ScalingConfig.MaximumConcurrency);
  expect(concurrencies).toContain(120);
  const retentions = chosen.all('AWS::Logs::LogGroup').map(({ properties }) => properties.RetentionInDays);
  expect(new Set(retentions)).toEqual(new Set([365]));
});
